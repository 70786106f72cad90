package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.stats.CallStats;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Loops on threads: no call is forgotten while a place is free, and no place is lost. */
class CallStressTest {
  private static final int LOOPS = 3;
  private static final int CALLS = 5_000;
  private static final int AT_ONCE = 20;

  /** Long timeouts: no call is refused because a slow machine makes members look slow. */
  private static final CallSettings PATIENT =
      new CallSettings(
          4_096,
          TimeUnit.MINUTES.toNanos(10),
          TimeUnit.MINUTES.toNanos(10),
          TimeUnit.MINUTES.toNanos(10),
          2,
          10,
          10_000,
          64L << 20,
          10_000);

  private final BusMemory memory = new BusMemory(1L << 30);
  private final Delivery body =
      Delivery.of(UnpooledByteBufAllocator.DEFAULT, memory, DeliveryKind.CONTROL, new byte[16], 0);
  private final List<ThreadLoop> loops = new ArrayList<>();
  private final Queue<Throwable> faults = new ConcurrentLinkedQueue<>();
  private final CountDownLatch done = new CountDownLatch(2 * LOOPS * CALLS);

  private final class ThreadLoop implements LoopPort, Executor {
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private @Nullable Thread current;
    private @Nullable LoopCalls calls;

    @Override
    public void execute(Runnable task) {
      thread.execute(guarded(task));
    }

    private Runnable guarded(Runnable task) {
      return () -> {
        try {
          current = Thread.currentThread();
          task.run();
        } catch (RuntimeException | Error e) {
          faults.add(e);
        }
      };
    }

    @Override
    public boolean isCurrent() {
      return Thread.currentThread() == current;
    }

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public void later(Runnable task, long nanos) {
      Future<?> unused = thread.schedule(guarded(task), nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void flushSoon() {
      execute(() -> calls().flush());
    }

    LoopCalls calls() {
      LoopCalls made = calls;
      if (made == null) {
        throw new AssertionError("not started");
      }
      return made;
    }
  }

  private final class Caller implements CallerPort {
    private final CallerConnection client;
    private final CallRequest request = new CallRequest();
    private long last;

    Caller(ThreadLoop loop, long number) {
      client = loop.calls().caller(this, new CallerInfo(number, new byte[0], this));
      request.service = ByteBuffer.wrap(new byte[] {'s'});
      request.serviceLength = 1;
      request.body = body;
      for (int i = 0; i < AT_ONCE; i++) {
        next();
      }
    }

    private void next() {
      if (last < CALLS) {
        request.call = ++last;
        request.member = last % 7 == 0 ? 1 + last % (2 * LOOPS) : 0;
        client.begin(request);
      }
    }

    @Override
    public void reply(long call, long member, int queued, int handled, Delivery reply) {
      done.countDown();
      next();
    }

    @Override
    public void failure(
        long call, long member, FailureCode code, Execution executed, long after, Delivery why) {
      reply(call, member, 0, 0, why);
    }

    @Override
    public void failure(
        long call, long member, FailureCode code, Execution executed, long after, String why) {
      faults.add(new AssertionError(code + ": " + why));
      done.countDown();
    }
  }

  private final class Member implements MemberPort {
    private final ThreadLoop loop;
    private final MemberConnection client;
    private final ServiceMember member;

    Member(ThreadLoop loop, long number) {
      this.loop = loop;
      this.client = loop.calls().server(this, number);
      ServiceMember made = client.register(1, "s", 2);
      if (made == null) {
        throw new AssertionError("not a member");
      }
      member = made;
    }

    @Override
    public void invoke(MemberInvocation invocation) {
      long call = invocation.call();
      boolean refuse = invocation.request() % 31 == 0;
      loop.execute(
          () -> {
            if (refuse) {
              client.failure(call, FailureCode.REFUSED, Execution.NO, 0, body);
            } else {
              client.reply(call, 0, body);
            }
          });
    }

    @Override
    public void cancel(long call, String reason) {
      faults.add(new AssertionError(reason));
    }
  }

  @AfterEach
  void end() throws InterruptedException {
    for (ThreadLoop loop : loops) {
      loop.thread.shutdownNow();
      assertThat(loop.thread.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }
    body.release();
    assertThat(memory.used()).isZero();
  }

  @Test
  void noCallIsForgotten() throws Exception {
    for (int i = 0; i < LOOPS; i++) {
      loops.add(new ThreadLoop());
    }
    BusCalls bus = new BusCalls(all(), PATIENT, memory);
    for (int i = 0; i < LOOPS; i++) {
      loops.get(i).calls = bus.start(i, loops.get(i), new CallStats());
    }
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < 2 * LOOPS; i++) {
      ThreadLoop loop = loops.get(i % LOOPS);
      long number = i + 1L;
      on(loop, () -> members.add(new Member(loop, number)));
    }
    for (int i = 0; i < 2 * LOOPS; i++) {
      ThreadLoop loop = loops.get(i % LOOPS);
      long number = 100L + i;
      on(loop, () -> new Caller(loop, number));
    }
    assertThat(done.await(25, TimeUnit.SECONDS)).as("%d have not ended", done.getCount()).isTrue();
    // Notes between loops have arrived after this.
    for (int i = 0; i < 2 * LOOPS; i++) {
      on(loops.get(i % LOOPS), () -> {});
    }
    assertThat(faults).isEmpty();
    for (Member member : members) {
      assertThat(member.member.unanswered()).isZero();
      assertThat(member.member.window().outstanding()).isZero();
    }
    assertThat(bus.queuedBytes()).isZero();
  }

  private static void on(ThreadLoop loop, Runnable task) throws Exception {
    loop.thread.submit(loop.guarded(task)).get(60, TimeUnit.SECONDS);
  }

  private Loops all() {
    return new Loops() {
      @Override
      public int count() {
        return LOOPS;
      }

      @Override
      public Executor executor(int loop) {
        return loops.get(loop);
      }

      @Override
      public void handOver(int loop) {
        throw new UnsupportedOperationException("calls have their own way");
      }
    };
  }
}
