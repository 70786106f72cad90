package io.eventbus.client.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class HandlerPoolTest {
  private static final int WANTED = 2;

  private final ScheduledExecutorService conductor = Executors.newSingleThreadScheduledExecutor();
  private final AtomicInteger blockedIn = new AtomicInteger();
  private final HandlerPool pool = new HandlerPool(WANTED, conductor);

  @AfterEach
  void end() {
    pool.letThreadsEnd();
    conductor.shutdownNow();
  }

  @Test
  void handlersThatBlockDoNotKeepOthersWaiting() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    int blocking = 50;
    CountDownLatch blocked = new CountDownLatch(blocking);
    for (int i = 0; i < blocking; i++) {
      pool.execute(
          () -> {
            blocked.countDown();
            await(gate);
          });
    }
    CountDownLatch other = new CountDownLatch(1);
    pool.execute(other::countDown);
    await(other);
    await(blocked);
    gate.countDown();
  }

  @Test
  void thereAreNoMoreThreadsThanThereMayBe() throws Exception {
    int max = 8;
    CountDownLatch looks = new CountDownLatch(100);
    ScheduledThreadPoolExecutor looking =
        new ScheduledThreadPoolExecutor(1) {
          @Override
          public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            if (blockedIn.get() == max) {
              looks.countDown();
            }
            return super.schedule(task, delay, unit);
          }
        };
    HandlerPool bounded = new HandlerPool(WANTED, max, looking, Thread::new);
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(50);
    for (int i = 0; i < 50; i++) {
      bounded.execute(
          () -> {
            blockedIn.incrementAndGet();
            await(gate);
            done.countDown();
          });
    }
    await(looks);
    assertThat(blockedIn).as("after a hundred looks more").hasValue(max);
    gate.countDown();
    await(done);
    bounded.letThreadsEnd();
    looking.shutdownNow();
  }

  @Test
  void retriesWhenTheSystemGivesNoThread() throws Exception {
    AtomicBoolean refuses = new AtomicBoolean();
    CountDownLatch refused = new CountDownLatch(3);
    HandlerPool poor =
        new HandlerPool(
            WANTED,
            8,
            conductor,
            work -> {
              // Not in Thread.start: from JDK 21 on the pool starts threads in another way.
              if (refuses.get()) {
                refused.countDown();
                throw new OutOfMemoryError("unable to create native thread");
              }
              return new Thread(work);
            });
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(WANTED);
    for (int i = 0; i < WANTED; i++) {
      poor.execute(
          () -> {
            blocked.countDown();
            await(gate);
          });
    }
    await(blocked);
    refuses.set(true);
    CountDownLatch other = new CountDownLatch(1);
    poor.execute(other::countDown);
    await(refused);
    refuses.set(false);
    await(other);
    gate.countDown();
    poor.letThreadsEnd();
  }

  @Test
  void handlersThatComputeShareThreads() throws Exception {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger max = new AtomicInteger();
    AtomicInteger sum = new AtomicInteger();
    int tasks = 2000;
    CountDownLatch done = new CountDownLatch(tasks);
    for (int i = 0; i < tasks; i++) {
      pool.execute(
          () -> {
            max.accumulateAndGet(running.incrementAndGet(), Math::max);
            for (int n = 0; n < 20_000; n++) {
              sum.addAndGet(n);
            }
            running.decrementAndGet();
            done.countDown();
          });
    }
    await(done);
    // A stop of the whole process in a bad moment may add a few.
    assertThat(max).hasValueLessThan(4 * WANTED);
  }

  @Test
  void handlersThatNeverStopComputingAreMadeUpFor() throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    for (int i = 0; i < WANTED; i++) {
      pool.execute(
          () -> {
            while (!stop.get()) {
              Thread.onSpinWait();
            }
          });
    }
    CountDownLatch other = new CountDownLatch(1);
    pool.execute(other::countDown);
    await(other);
    stop.set(true);
  }

  @Test
  void runsTasksAfterTheLastClientDespiteBlockedThreads() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(WANTED);
    for (int i = 0; i < WANTED; i++) {
      pool.execute(
          () -> {
            blocked.countDown();
            await(gate);
          });
    }
    await(blocked);
    conductor.shutdownNow();
    pool.letThreadsEnd();
    CountDownLatch late = new CountDownLatch(1);
    pool.execute(late::countDown);
    await(late);
    gate.countDown();
  }

  @Test
  void threadsEndWithTheLastClient() throws Exception {
    List<Thread> threads = new ArrayList<>();
    CountDownLatch both = new CountDownLatch(WANTED);
    for (int i = 0; i < WANTED; i++) {
      pool.execute(
          () -> {
            synchronized (threads) {
              threads.add(Thread.currentThread());
            }
            both.countDown();
            await(both);
          });
    }
    await(both);
    pool.letThreadsEnd();
    for (Thread thread : threads) {
      thread.join(10_000);
      assertThat(thread.isAlive()).isFalse();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).as("within 60 s").isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
