package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.MemberConnection.Undone;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
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
import java.util.function.LongConsumer;

/**
 * Buses of one loop each that call each other, with a clock controlled by the test and links with
 * latency. Confined to one thread.
 */
final class PeerFixture {
  private static final ServiceKey SERVICE = new ServiceKey("", "s");
  static final long MILLIS = CallFixture.MILLIS;
  static final long SECOND = 1_000 * MILLIS;

  /** Nanoseconds one way, between buses as between a bus and a client. */
  static final long NETWORK = 25_000;

  private record Task(long at, long order, Runnable action) {}

  final BusMemory memory = new BusMemory(1L << 30);
  final List<Bus> buses = new ArrayList<>();
  long now = 7;
  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::order));
  private long order;

  void schedule(long nanos, Runnable action) {
    tasks.add(new Task(now + nanos, order++, action));
  }

  void advance(long nanos) {
    long until = now + nanos;
    while (!tasks.isEmpty() && tasks.peek().at <= until) {
      Task task = tasks.remove();
      now = Math.max(now, task.at);
      task.action.run();
    }
    now = until;
  }

  Bus bus() {
    Bus bus = new Bus();
    buses.add(bus);
    return bus;
  }

  Delivery delivery(String text) {
    return Delivery.of(
        UnpooledByteBufAllocator.DEFAULT,
        memory,
        DeliveryKind.CONTROL,
        text.getBytes(StandardCharsets.UTF_8),
        now);
  }

  /** Bus with one loop. */
  final class Bus {
    final CallStats fromBuses = new CallStats();
    final LoopCalls calls;

    Bus() {
      LoopPort port =
          new LoopPort() {
            @Override
            public boolean isCurrent() {
              return true;
            }

            @Override
            public long nanoTime() {
              return now;
            }

            @Override
            public void later(Runnable task, long nanos) {
              schedule(nanos, task);
            }

            @Override
            public void flushSoon() {
              throw new AssertionError("there is one loop");
            }
          };
      Loops loops =
          new Loops() {
            @Override
            public int count() {
              return 1;
            }

            @Override
            public Executor executor(int loop) {
              throw new AssertionError("there is one loop");
            }

            @Override
            public void handOver(int loop) {
              throw new AssertionError("there is one loop");
            }
          };
      calls =
          new BusCalls(loops, CallFixture.SETTINGS, memory)
              .start(0, port, new CallStats(), fromBuses);
    }

    /** Allows calls from here to members of another bus. */
    Link serve(Bus other) {
      return new Link(this, other);
    }
  }

  /** Link to a peer: the work of federation with streams that are never cut. */
  final class Link implements MemberPort, CallerPort {
    final MemberConnection serving;
    final ServiceMember member;
    final CallerConnection calling;
    final PeerDemand asker;
    private final CallRequest request = new CallRequest();
    long sent;
    long back;
    int maxOpen;

    Link(Bus from, Bus to) {
      calling = to.calls.bus(this, "bus " + order++, 65_536);
      asker = to.calls.demand(SERVICE);
      serving = from.calls.bus(this);
      ServiceMember made = serving.serve(1, SERVICE);
      if (made == null) {
        throw new AssertionError("a member already");
      }
      member = made;
      member.grant(PeerDemand.FIRST_GRANT);
    }

    @Override
    public void invoke(MemberInvocation i) {
      sent++;
      long call = i.call();
      int queued = i.waiting();
      boolean returnable = i.isReturnable();
      int timeout = i.timeoutMillis();
      long caller = i.caller().producer();
      long number = i.request();
      Delivery body = i.body();
      body.retain();
      schedule(
          NETWORK,
          () -> {
            asker.began(queued);
            maxOpen = Math.max(maxOpen, asker.open());
            request.service = ByteBuffer.wrap("s".getBytes(StandardCharsets.UTF_8));
            request.serviceLength = 1;
            request.call = call;
            request.fromPeer = true;
            request.caller = new CallerInfo(caller, new byte[0], "");
            request.request = number;
            request.returnable = returnable;
            request.timeoutMillis = timeout;
            request.body = body;
            calling.begin(request);
            body.release();
          });
    }

    @Override
    public void cancel(long call, String reason) {
      schedule(NETWORK, () -> calling.cancel(call, reason));
    }

    @Override
    public void announceDemand(long registration, int queued) {
      schedule(
          NETWORK,
          () -> {
            asker.queued(queued);
            int grant = asker.grant();
            schedule(NETWORK, () -> member.grant(grant));
          });
    }

    private void answer(LongConsumer how, long call) {
      int grant = asker.grant();
      asker.ended();
      schedule(
          NETWORK,
          () -> {
            member.grant(grant);
            how.accept(call);
          });
    }

    @Override
    public void reply(long call, long by, int queued, int handled, Delivery reply) {
      reply.retain();
      answer(
          c -> {
            serving.answered(c, by, queued);
            serving.reply(c, handled, reply);
            reply.release();
          },
          call);
    }

    @Override
    public void failure(
        long call, long by, FailureCode code, Execution executed, long retryAfter, Delivery why) {
      why.retain();
      answer(
          c -> {
            serving.failure(c, code, executed, retryAfter, why);
            why.release();
          },
          call);
    }

    @Override
    public void failure(
        long call, long by, FailureCode code, Execution executed, long retryAfter, String why) {
      answer(
          c -> {
            if (code == FailureCode.NO_MEMBER) {
              serving.sentBack(c, Undone.NO_MEMBER);
            } else {
              Delivery failure = delivery(why);
              serving.failure(c, code, executed, retryAfter, failure);
              failure.release();
            }
          },
          call);
    }

    @Override
    public void sendBack(long call) {
      back++;
      answer(c -> serving.sentBack(c, Undone.BUSY), call);
    }

    @Override
    public void chargeWork(long nanos) {}

    void close() {
      serving.close(Long.MAX_VALUE);
      calling.close();
      asker.close();
    }
  }

  /** Member that works on a number of calls at once. */
  final class Server implements MemberPort {
    private final long serviceNanos;
    final MemberConnection client;
    final ServiceMember member;
    private final Queue<Long> waiting = new ArrayDeque<>();
    private int idle;
    long done;
    int maximum;

    Server(Bus at, int concurrency, long serviceNanos) {
      this.serviceNanos = serviceNanos;
      idle = concurrency;
      client = at.calls.server(this, 1_000 + order++);
      ServiceMember made = client.register(1, "s", concurrency);
      if (made == null) {
        throw new AssertionError("a member already");
      }
      member = made;
    }

    @Override
    public void invoke(MemberInvocation i) {
      long call = i.call();
      maximum = Math.max(maximum, member.window().outstanding());
      schedule(
          NETWORK,
          () -> {
            waiting.add(call);
            work();
          });
    }

    private void work() {
      while (idle > 0 && !waiting.isEmpty()) {
        idle--;
        long call = waiting.remove();
        schedule(
            serviceNanos,
            () -> {
              idle++;
              done++;
              schedule(NETWORK, () -> reply(call));
              work();
            });
      }
    }

    private void reply(long call) {
      Delivery reply = delivery("done");
      client.reply(call, 1, reply);
      reply.release();
    }

    @Override
    public void cancel(long call, String reason) {}
  }

  /** Client that keeps a number of calls open. */
  final class Caller implements CallerPort {
    final CallerConnection client;
    final CallRequest request = new CallRequest();
    final Map<String, Integer> outcomes = new HashMap<>();
    final List<Long> nanos = new ArrayList<>();
    private final Map<Long, Long> began = new HashMap<>();
    private long last;
    private boolean ended;

    Caller(Bus at, int calls) {
      client = at.calls.caller(this, new CallerInfo(1_000 + order++, new byte[0], "u" + order++));
      for (int i = 0; i < calls; i++) {
        call();
      }
    }

    void call() {
      if (ended) {
        return;
      }
      request.service = ByteBuffer.wrap("s".getBytes(StandardCharsets.UTF_8));
      request.serviceLength = 1;
      request.call = ++last;
      request.priority = CallPriority.NORMAL;
      began.put(last, now);
      Delivery body = delivery("body");
      request.body = body;
      client.begin(request);
      body.release();
    }

    private void ended(long call, String how) {
      Long at = began.remove(call);
      if (at == null) {
        throw new AssertionError(call + " ended twice");
      }
      outcomes.merge(how, 1, Integer::sum);
      nanos.add(now - at);
      schedule(how.startsWith("reply") ? 2 * NETWORK : 20 * MILLIS, this::call);
    }

    @Override
    public void reply(long call, long member, int queued, int handled, Delivery reply) {
      ended(call, "reply");
    }

    @Override
    public void failure(
        long call, long by, FailureCode code, Execution executed, long retryAfter, Delivery why) {
      ended(call, code + " " + executed);
    }

    @Override
    public void failure(
        long call, long by, FailureCode code, Execution executed, long retryAfter, String why) {
      ended(call, code + " " + executed);
    }

    void close() {
      ended = true;
      client.close();
    }
  }
}
