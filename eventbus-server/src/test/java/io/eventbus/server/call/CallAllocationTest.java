package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.stats.CallStats;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Steady-state calls allocate nothing, including calls that wait and calls to another loop. */
class CallAllocationTest {
  private static final int ROUNDS = 200;
  private static final int ATTEMPTS = 300;

  /** Three times the window of the members. */
  private static final int CALLS = 24;

  private static final class FakeLoop implements LoopPort, Executor {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private @Nullable LoopCalls made;

    @Override
    public boolean isCurrent() {
      return true;
    }

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public void later(Runnable task, long nanos) {}

    @Override
    public void flushSoon() {
      flush = true;
    }

    private boolean flush;

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    LoopCalls calls() {
      LoopCalls calls = made;
      if (calls == null) {
        throw new AssertionError("not started");
      }
      return calls;
    }

    boolean run() {
      Runnable task = tasks.poll();
      if (task != null) {
        task.run();
      }
      boolean flushed = flush;
      flush = false;
      if (flushed) {
        calls().flush();
      }
      return task != null || flushed;
    }
  }

  private final BusMemory memory = new BusMemory(1 << 30);
  private final Delivery body = delivery();
  private final List<FakeLoop> fakes = List.of(new FakeLoop(), new FakeLoop());
  private long replies;

  private Delivery delivery() {
    return Delivery.of(
        UnpooledByteBufAllocator.DEFAULT, memory, DeliveryKind.CONTROL, new byte[128], 0);
  }

  private final class Caller implements CallerPort {
    @Override
    public void reply(long call, long member, int queued, int handled, Delivery reply) {
      replies++;
    }

    @Override
    public void failure(
        long call, long member, FailureCode code, Execution executed, long after, Delivery why) {
      throw new AssertionError(code);
    }

    @Override
    public void failure(
        long call, long member, FailureCode code, Execution executed, long after, String why) {
      throw new AssertionError(code + ": " + why);
    }
  }

  private final class Member implements MemberPort {
    private final long[] given = new long[64];
    private final MemberConnection client;
    private int size;

    Member(LoopCalls calls, long number) {
      client = calls.server(this, number);
      assertThat(client.register(1, "service", 2)).isNotNull();
    }

    @Override
    public void invoke(MemberInvocation invocation) {
      given[size++] = invocation.call();
    }

    @Override
    public void cancel(long call, String reason) {
      throw new AssertionError(reason);
    }

    void answer() {
      if (size > 0) {
        client.reply(given[--size], 1, body);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void callsAllocateNothing(int memberLoop) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    assumeTrue(
        threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled(),
        "this JVM does not count what a thread allocates");
    BusCalls bus = new BusCalls(loops(), CallFixture.SETTINGS, memory);
    for (int i = 0; i < 2; i++) {
      fakes.get(i).made = bus.start(i, fakes.get(i), new CallStats());
    }
    List<CallerConnection> callers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      callers.add(
          fakes.get(0).calls().caller(new Caller(), new CallerInfo(i + 1, new byte[0], "s" + i)));
    }
    LoopCalls at = fakes.get(memberLoop).calls();
    Member[] members = {
      new Member(at, 1), new Member(at, 2), new Member(at, 3), new Member(at, 4), new Member(at, 5)
    };
    CallRequest request = new CallRequest();
    request.service = ByteBuffer.wrap("service".getBytes(StandardCharsets.UTF_8));
    request.serviceLength = request.service.limit();
    request.body = body;
    // The compiler adds or removes a few objects while it warms up: a measurement without any has
    // to occur, and soon.
    long minimum = Long.MAX_VALUE;
    long calls = 0;
    for (int attempt = 0; attempt < ATTEMPTS && minimum > 0; attempt++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CALLS; i++) {
          request.call = ++calls;
          callers.get(i % 3).begin(request);
        }
        while (replies < calls) {
          boolean ran = true;
          while (ran) {
            ran = fakes.get(0).run();
            ran |= fakes.get(1).run();
          }
          for (Member member : members) {
            member.answer();
          }
        }
      }
      minimum = Math.min(minimum, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(minimum).as("bytes allocated in %d rounds", ROUNDS).isZero();
    body.release();
    assertThat(memory.used()).isZero();
  }

  private Loops loops() {
    return new Loops() {
      @Override
      public int count() {
        return fakes.size();
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
  }
}
