package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.ThreadPerTaskExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FairEventLoopTest {
  private static final int TASKS = 10;

  private final Semaphore wakeup = new Semaphore(0);
  private final FairEventLoop loop =
      new FairEventLoop(
          null,
          new ThreadPerTaskExecutor(new DefaultThreadFactory("fair-loop", true)),
          executor -> new CountingHandler(),
          () -> this.nanos);
  // Confined to the loop.
  private long nanos;
  private int reads;
  private final List<Integer> readsBefore = new ArrayList<>();
  private final List<Integer> order = new ArrayList<>();

  /** Sockets that are never ready, but are looked at. */
  private final class CountingHandler implements IoHandler {
    @Override
    public int run(IoHandlerContext context) {
      reads++;
      if (context.canBlock()) {
        wakeup.acquireUninterruptibly();
      }
      return 0;
    }

    @Override
    public void destroy() {
      // Holds nothing.
    }

    @Override
    public IoRegistration register(IoHandle handle) {
      throw new UnsupportedOperationException("has no channels");
    }

    @Override
    public void wakeup() {
      wakeup.release();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
      return true;
    }
  }

  @AfterEach
  void end() {
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(60, TimeUnit.SECONDS);
  }

  /** Runs tasks of one duration that all wait when the first begins. */
  private void run(long taskNanos) throws InterruptedException {
    CountDownLatch submitted = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(TASKS);
    loop.execute(
        () -> {
          try {
            submitted.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
    for (int i = 0; i < TASKS; i++) {
      int number = i;
      loop.execute(
          () -> {
            readsBefore.add(reads);
            order.add(number);
            nanos += taskNanos;
            done.countDown();
          });
    }
    submitted.countDown();
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(order).isSorted().hasSize(TASKS);
  }

  @Test
  void looksAtTheSocketsAfterEachLongTask() throws InterruptedException {
    run(FairEventLoop.MAX_TASK_NANOS);
    assertThat(readsBefore).doesNotHaveDuplicates();
  }

  @Test
  void runsManyShortTasksTogether() throws InterruptedException {
    run(FairEventLoop.MAX_TASK_NANOS / TASKS);
    assertThat(readsBefore).containsOnly(readsBefore.get(0));
  }
}
