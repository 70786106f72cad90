package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.dispatch.MemberWindow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.stats.CallStats;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Calls of a bus with loops and a clock controlled by the test. Confined to one thread. */
final class CallFixture {
  static final long MILLIS = 1_000_000;
  static final CallSettings SETTINGS =
      new CallSettings(
          4_096,
          30_000 * MILLIS,
          600_000 * MILLIS,
          2_000 * MILLIS,
          2,
          10,
          10_000,
          64L << 20,
          10_000);

  private record Task(long at, long order, int loop, Runnable action) {}

  private final class FakeLoop implements LoopPort, Executor {
    private final int number;

    FakeLoop(int number) {
      this.number = number;
    }

    @Override
    public boolean isCurrent() {
      return current == number;
    }

    @Override
    public long nanoTime() {
      now += cost;
      return now;
    }

    @Override
    public void later(Runnable task, long nanos) {
      schedule(number, nanos, task);
    }

    @Override
    public void flushSoon() {
      execute(() -> loops.get(number).flush());
    }

    @Override
    public void execute(Runnable task) {
      ready.get(number).add(task);
    }
  }

  final BusMemory memory;
  final List<LoopCalls> loops = new ArrayList<>();
  final List<CallStats> stats = new ArrayList<>();
  final BusCalls bus;
  final Map<Long, FakeMember> members = new HashMap<>();
  long now = 7;

  /** Time that passes with each reading of the clock: work takes time. */
  long cost;

  private final PriorityQueue<Task> scheduled =
      new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::order));
  // Tasks of each loop.
  private final List<Queue<Runnable>> ready = new ArrayList<>();
  private long order;
  private int current;
  private boolean inTask;
  private boolean slow;

  CallFixture(int loopCount) {
    this(loopCount, SETTINGS);
  }

  CallFixture(int loopCount, CallSettings settings) {
    this(loopCount, settings, 1L << 30);
  }

  CallFixture(int loopCount, CallSettings settings, long memoryBytes) {
    memory = new BusMemory(memoryBytes);
    List<FakeLoop> fakes = new ArrayList<>();
    for (int i = 0; i < loopCount; i++) {
      fakes.add(new FakeLoop(i));
      ready.add(new ArrayDeque<>());
    }
    Loops all =
        new Loops() {
          @Override
          public int count() {
            return loopCount;
          }

          @Override
          public Executor executor(int loop) {
            return fakes.get(loop);
          }

          @Override
          public void handOver(int loop) {
            throw new UnsupportedOperationException("calls have their own way");
          }
        };
    bus = new BusCalls(all, settings, memory);
    for (FakeLoop fake : fakes) {
      CallStats counters = new CallStats();
      stats.add(counters);
      loops.add(bus.start(fake.number, fake, counters, 42 + fake.number));
    }
  }

  /** Runs a task on a loop after a delay. */
  void schedule(int loop, long nanos, Runnable task) {
    scheduled.add(new Task(now + nanos, order++, loop, task));
  }

  /** Runs a task on a loop, and then the resulting tasks of others, unless they have to wait. */
  void on(int loop, Runnable task) {
    boolean outermost = !inTask;
    inTask = true;
    int before = current;
    current = loop;
    task.run();
    current = before;
    if (outermost) {
      inTask = false;
      if (!slow) {
        drain();
      }
    }
  }

  /** Sets whether notes between loops wait for {@link #step}. */
  void slow(boolean waits) {
    slow = waits;
  }

  /** Runs the tasks of all loops, and the resulting ones. */
  void drain() {
    boolean ran = true;
    while (ran) {
      ran = false;
      for (int loop = 0; loop < ready.size(); loop++) {
        ran |= step(loop);
      }
    }
  }

  /** Runs the next task of a loop; returns false if there is none. */
  boolean step(int loop) {
    Runnable task = ready.get(loop).poll();
    if (task == null) {
      return false;
    }
    boolean before = slow;
    slow = true;
    on(loop, task);
    slow = before;
    return true;
  }

  /** Advances the clock. */
  void advance(long nanos) {
    if (!slow) {
      drain();
    }
    long until = now + nanos;
    while (!scheduled.isEmpty() && scheduled.peek().at <= until) {
      Task task = scheduled.remove();
      now = Math.max(now, task.at);
      on(task.loop, task.action);
    }
    now = Math.max(now, until);
  }

  boolean hasTimers() {
    return !scheduled.isEmpty();
  }

  Delivery delivery(String text) {
    return Delivery.of(
        UnpooledByteBufAllocator.DEFAULT,
        memory,
        DeliveryKind.CONTROL,
        text.getBytes(StandardCharsets.UTF_8),
        now);
  }

  static String text(Delivery delivery) {
    return StandardCharsets.UTF_8.decode(delivery.frame()).toString();
  }

  /** Caller with its connection. */
  final class FakeCaller implements CallerPort {
    final int loop;
    final CallerInfo info;
    final CallerConnection client;
    final Map<Long, String> outcomes = new HashMap<>();
    final CallRequest request = new CallRequest();
    long retryAfter;
    long chargedNanos;
    private long last;
    private Consumer<Long> listener = call -> {};

    FakeCaller(int loop, String account, String share) {
      this.loop = loop;
      info = new CallerInfo(1_000 + order++, new byte[0], account, share);
      CallerConnection[] made = new CallerConnection[1];
      on(loop, () -> made[0] = loops.get(loop).caller(this, info));
      client = made[0];
    }

    void onOutcome(Consumer<Long> action) {
      listener = action;
    }

    @Override
    public void chargeWork(long nanos) {
      chargedNanos += nanos;
    }

    private void outcome(long call, String text) {
      String before = outcomes.put(call, text);
      if (before != null) {
        throw new AssertionError(call + " ended twice: " + before + ", " + text);
      }
      listener.accept(call);
    }

    @Override
    public void reply(long call, long member, int queued, int handled, Delivery reply) {
      outcome(call, "reply " + text(reply) + " of " + member + " after " + queued);
    }

    @Override
    public void failure(
        long call,
        long member,
        FailureCode code,
        Execution executed,
        long retryAfterMillis,
        Delivery failure) {
      retryAfter = retryAfterMillis;
      outcome(call, code + " " + executed + " of " + member + ": " + text(failure));
    }

    @Override
    public void failure(
        long call,
        long member,
        FailureCode code,
        Execution executed,
        long retryAfterMillis,
        String message) {
      retryAfter = retryAfterMillis;
      outcome(call, code + " " + executed);
    }

    /** Starts a call of the service "s", changed by the test. */
    long call(Consumer<CallRequest> change) {
      ByteBuffer frame = ByteBuffer.wrap("..s..".getBytes(StandardCharsets.UTF_8));
      request.service = frame;
      request.serviceStart = 2;
      request.serviceLength = 1;
      request.call = ++last;
      request.priority = CallPriority.NORMAL;
      request.timeoutMillis = 0;
      request.waitMillis = 0;
      request.idempotent = false;
      request.attempt = 0;
      request.member = 0;
      Delivery body = delivery("body");
      request.body = body;
      change.accept(request);
      on(loop, () -> client.begin(request));
      body.release();
      return last;
    }

    long call() {
      return call(r -> {});
    }

    void cancel(long call) {
      on(loop, () -> client.cancel(call, "no longer"));
    }

    void close() {
      on(loop, client::close);
    }

    @Nullable String outcome(long call) {
      return outcomes.get(call);
    }
  }

  FakeCaller caller(int loop) {
    return caller(loop, "share" + order++);
  }

  FakeCaller caller(int loop, String share) {
    return new FakeCaller(loop, "", share);
  }

  FakeCaller callerOf(String account, int loop) {
    return new FakeCaller(loop, account, "share" + order++);
  }

  /** Call as its member got it. */
  record Dispatched(long call, long caller, long request, int attempt, int timeoutMillis) {
    /** Returns the identity of the request, however often it is dispatched. */
    String id() {
      return caller + "/" + request;
    }
  }

  /** Member of the service "s" with its connection. */
  final class FakeMember implements MemberPort {
    final int loop;
    final long number;
    final MemberConnection client;
    final List<Dispatched> given = new ArrayList<>();
    // All invocations since the start.
    final List<Dispatched> invocations = new ArrayList<>();
    final Map<Long, String> cancelled = new HashMap<>();
    @Nullable ServiceMember member;
    long invoked;
    long chargedNanos;
    private Consumer<Dispatched> handler = g -> {};
    @Nullable String owes;

    FakeMember(int loop, String account, long number, int concurrency) {
      this.loop = loop;
      this.number = number;
      MemberConnection[] made = new MemberConnection[1];
      LoopCalls at = loops.get(loop);
      ServiceShare held = at.share(ServiceShare.Address.UNBOUNDED);
      on(loop, () -> made[0] = at.server(this, account, number, held));
      client = made[0];
      members.put(number, this);
      register(concurrency);
    }

    void register(int concurrency) {
      on(loop, () -> member = client.register(5, "s", concurrency));
    }

    ServiceMember member() {
      if (member == null) {
        throw new AssertionError("not a member");
      }
      return member;
    }

    @Override
    public void chargeWork(long nanos) {
      chargedNanos += nanos;
    }

    void onInvoke(Consumer<Dispatched> action) {
      handler = action;
    }

    @Override
    public void invoke(MemberInvocation i) {
      if (i.registration() != 5 || i.call() >= 0 || i.timeoutMillis() < 1) {
        throw new AssertionError("registration " + i.registration() + ", call " + i.call());
      }
      if (!text(i.body()).equals("body")) {
        throw new AssertionError(text(i.body()));
      }
      invoked++;
      Dispatched g =
          new Dispatched(
              i.call(), i.caller().producer(), i.request(), i.attempt(), i.timeoutMillis());
      given.add(g);
      invocations.add(g);
      handler.accept(g);
    }

    @Override
    public void cancel(long call, String reason) {
      cancelled.put(call, reason);
    }

    @Override
    public void closeUnresponsive(String message) {
      owes = message;
    }

    /** Replies to its first call. */
    boolean reply() {
      return reply(given.remove(0).call());
    }

    boolean reply(long call) {
      Delivery reply = delivery("done");
      boolean[] known = new boolean[1];
      on(loop, () -> known[0] = client.reply(call, 1, reply));
      reply.release();
      return known[0];
    }

    boolean fail(long call, FailureCode code, Execution executed) {
      Delivery failure = delivery("why");
      boolean[] known = new boolean[1];
      on(loop, () -> known[0] = client.failure(call, code, executed, 3, failure));
      failure.release();
      return known[0];
    }

    boolean fail(FailureCode code, Execution executed) {
      return fail(given.remove(0).call(), code, executed);
    }

    void capacity(int concurrency) {
      on(loop, () -> member().capacity(concurrency));
    }

    void unregister() {
      on(loop, () -> member().unregister());
    }

    void close(long written) {
      on(loop, () -> client.close(written));
      given.clear();
    }

    MemberWindow window() {
      return member().window();
    }
  }

  FakeMember member(int loop, long number, int concurrency) {
    return new FakeMember(loop, "", number, concurrency);
  }

  FakeMember memberOf(String account, int loop, long number, int concurrency) {
    return new FakeMember(loop, account, number, concurrency);
  }

  long sum(java.util.function.ToLongFunction<CallStats> counter) {
    return stats.stream().mapToLong(counter).sum();
  }
}
