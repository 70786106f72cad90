package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.SendResult;
import io.eventbus.client.WhenFull;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The bytes of an outbound buffer. */
@Timeout(120)
class BudgetTest {
  private static final int MAX = 64 * 1024;
  private static final Duration EVER = Duration.ofHours(1);

  private final ReentrantLock lock = new ReentrantLock();

  private Budget budget(WhenFull whenFull, Duration blockTimeout) {
    return new Budget(
        new ClientOptions.Outbound(MAX, whenFull, blockTimeout, 4_096, Duration.ofSeconds(30)),
        lock);
  }

  private <T extends @Nullable Object> T locked(Supplier<T> how) {
    lock.lock();
    try {
      return how.get();
    } finally {
      lock.unlock();
    }
  }

  private void release(Budget budget, long cost) {
    locked(
        () -> {
          budget.release(cost);
          return true;
        });
  }

  @Test
  void refusesEventsThatDoNotFit() {
    Budget budget = budget(WhenFull.FAIL, EVER);
    assertThat(locked(() -> budget.tryAcquire(MAX - 1))).isNull();
    assertThat(locked(() -> budget.tryAcquire(1))).isNull();
    assertThat(locked(() -> budget.tryAcquire(1))).isEqualTo(SendResult.FULL);
    release(budget, 1);
    assertThat(locked(() -> budget.tryAcquire(1))).isNull();
    assertThat(budget.used()).isEqualTo(MAX);
  }

  @Test
  void acceptsAnOversizedEventAlone() {
    Budget budget = budget(WhenFull.FAIL, EVER);
    assertThat(locked(() -> budget.tryAcquire(MAX + 1))).isNull();
    assertThat(locked(() -> budget.tryAcquire(0))).isEqualTo(SendResult.FULL);
    release(budget, MAX + 1);
    assertThat(locked(() -> budget.tryAcquire(1))).isNull();
  }

  @Test
  void countsDropsAndReportsThemOnce() {
    Budget budget = budget(WhenFull.DROP, EVER);
    assertThat(locked(() -> budget.tryAcquire(MAX))).isNull();
    assertThat(locked(() -> budget.tryAcquire(1))).isEqualTo(SendResult.DROPPED);
    assertThat(locked(() -> budget.tryAcquire(1))).isEqualTo(SendResult.DROPPED);
    assertThat(budget.takeDropped()).isEqualTo(2);
    assertThat(budget.takeDropped()).isZero();
    assertThat(budget.dropped()).isEqualTo(2);
    assertThat(budget.used()).isEqualTo(MAX);
  }

  private CompletableFuture<@Nullable SendResult> waiting(Budget budget) {
    CompletableFuture<@Nullable SendResult> result = new CompletableFuture<>();
    Thread publisher =
        new Thread(() -> result.complete(locked(() -> budget.tryAcquire(1))), "publisher");
    publisher.setDaemon(true);
    publisher.start();
    // The publisher holds the lock until it waits for room.
    while (publisher.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    return result;
  }

  @Test
  void wakesWaitersWhenHalfIsFree() throws Exception {
    Budget budget = budget(WhenFull.BLOCK, EVER);
    assertThat(locked(() -> budget.tryAcquire(MAX))).isNull();
    CompletableFuture<@Nullable SendResult> publisher = waiting(budget);
    release(budget, MAX / 2);
    assertThat(publisher.get(60, TimeUnit.SECONDS)).isNull();
    assertThat(budget.used()).isEqualTo(MAX / 2 + 1);
  }

  @Test
  void waitingEndsAfterItsTime() {
    Budget budget = budget(WhenFull.BLOCK, Duration.ofMillis(1));
    assertThat(locked(() -> budget.tryAcquire(MAX))).isNull();
    assertThat(locked(() -> budget.tryAcquire(1))).isEqualTo(SendResult.FULL);
    assertThat(budget.dropped()).isZero();
  }

  @Test
  void failsWaitersAtTheEnd() throws Exception {
    Budget budget = budget(WhenFull.BLOCK, EVER);
    assertThat(locked(() -> budget.tryAcquire(MAX))).isNull();
    CompletableFuture<@Nullable SendResult> publisher = waiting(budget);
    locked(
        () -> {
          budget.close();
          return true;
        });
    assertThat(publisher.get(60, TimeUnit.SECONDS)).isEqualTo(SendResult.CLOSED);
    assertThat(locked(() -> budget.tryAcquire(0))).isEqualTo(SendResult.CLOSED);
  }

  @Test
  void anInterruptEndsTheWaitAndIsKept() {
    Budget budget = budget(WhenFull.BLOCK, EVER);
    assertThat(locked(() -> budget.tryAcquire(MAX))).isNull();
    Thread.currentThread().interrupt();
    assertThat(locked(() -> budget.tryAcquire(1))).isEqualTo(SendResult.FULL);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void noMoreIsGivenBackThanWasTaken() {
    Budget budget = budget(WhenFull.FAIL, EVER);
    assertThat(locked(() -> budget.tryAcquire(10))).isNull();
    assertThatThrownBy(() -> release(budget, 11))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-1");
  }
}
