package io.eventbus.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HandOverQueueTest {
  private static final long LIMIT = 1_000;

  /** Work of a test. */
  private static final class Item {
    int number;
  }

  private final class Numbers extends HandOverQueue<Item> {
    Numbers(Executor destination) {
      super(destination, LIMIT);
    }

    /** Adds a number; returns its item. */
    Item add(int number, int work, long load) {
      Item item = append(work, load);
      item.number = number;
      flushIfLarge();
      return item;
    }

    @Override
    protected Item create() {
      return new Item();
    }

    @Override
    protected void process(Item item) {
      Throwable error = failures.poll();
      if (error instanceof Error e) {
        throw e;
      }
      if (error instanceof RuntimeException e) {
        throw e;
      }
      processed.add(item.number);
    }

    @Override
    protected void clear(Item item) {
      cleared.add(item.number);
      item.number = 0;
      RuntimeException failure = clearFailure;
      if (failure != null) {
        throw failure;
      }
    }
  }

  private final List<Integer> processed = new ArrayList<>();
  private final List<Integer> cleared = new ArrayList<>();
  private final Queue<Throwable> failures = new ArrayDeque<>();
  private @Nullable RuntimeException clearFailure;
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private int submitted;
  private @Nullable RuntimeException refusal;
  private final Numbers queue =
      new Numbers(
          task -> {
            RuntimeException failure = refusal;
            if (failure != null) {
              throw failure;
            }
            submitted++;
            tasks.add(task);
          });

  private void add(int number) {
    queue.add(number, 1, 1);
  }

  private void addAndFlush(int count) {
    for (int i = 1; i <= count; i++) {
      add(i);
    }
    queue.flush();
  }

  private void runAll() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private static List<Integer> upTo(int last) {
    return IntStream.rangeClosed(1, last).boxed().toList();
  }

  @Test
  void aCycleIsOneTaskAndKeepsTheOrder() {
    queue.flush();
    assertThat(submitted).as("nothing to hand over").isZero();
    assertThat(queue.isFlushed()).isTrue();
    for (int i = 1; i <= 200; i++) {
      add(i);
      assertThat(queue.isFlushed()).isFalse();
    }
    assertThat(submitted).isZero();
    queue.flush();
    queue.flush();
    assertThat(queue.isFlushed()).isTrue();
    assertThat(submitted).isEqualTo(1);
    assertThat(processed).isEmpty();
    runAll();
    assertThat(processed).isEqualTo(upTo(200));
    assertThat(cleared).isEqualTo(processed);
  }

  @Test
  void aBurstIsSeveralTasksAndKeepsTheOrder() {
    int many = 10_000;
    for (int i = 1; i <= many; i++) {
      queue.add(i, 2, 1);
    }
    queue.flush();
    assertThat(submitted).isEqualTo(2 * many / 512 + 1);
    runAll();
    assertThat(processed).isEqualTo(upTo(many));
  }

  @Test
  void cyclesThatOverlapStayInOrder() {
    for (int cycle = 0; cycle < 50; cycle++) {
      add(cycle * 2 + 1);
      add(cycle * 2 + 2);
      queue.flush();
      if (cycle % 3 == 0) {
        tasks.remove().run();
      }
    }
    runAll();
    assertThat(processed).isEqualTo(upTo(100));
    assertThat(cleared).isEqualTo(processed);
  }

  @Test
  void itemsAreReused() {
    Item first = queue.add(1, 1, 1);
    queue.flush();
    runAll();
    assertThat(queue.add(2, 1, 1)).isSameAs(first);
  }

  @Test
  void isFullAboveItsLimitAndWakesBelowHalf() {
    AtomicInteger woken = new AtomicInteger();
    for (int i = 1; i <= 11; i++) {
      assertThat(queue.isFull()).isFalse();
      queue.add(i, 1, LIMIT / 10);
      assertThat(queue.isFull()).as("also before it is flushed").isEqualTo(i == 11);
      queue.flush();
    }
    assertThat(queue.isFull()).isTrue();
    queue.whenNotFull(woken::incrementAndGet);
    for (int i = 1; i <= 6; i++) {
      tasks.remove().run();
      assertThat(woken).hasValue(0);
    }
    assertThat(queue.isFull()).isFalse();
    tasks.remove().run();
    assertThat(woken).hasValue(1);
    runAll();
    assertThat(woken).hasValue(1);
    queue.whenNotFull(woken::incrementAndGet);
    assertThat(woken).as("at once when there is room").hasValue(2);
  }

  @Test
  void aDestinationThatHasEndedCostsNothing() {
    AtomicInteger woken = new AtomicInteger();
    queue.add(1, 1, LIMIT + 1);
    queue.whenNotFull(woken::incrementAndGet);
    assertThat(woken).hasValue(0);
    refusal = new RejectedExecutionException("the loop has ended");
    queue.flush();
    assertThat(cleared).containsExactly(1);
    assertThat(queue.isFull()).isFalse();
    assertThat(woken).hasValue(1);
    assertThat(processed).isEmpty();
  }

  @Test
  void keepsAFailedBatchForTheNextFlush() {
    add(1);
    refusal = new IllegalStateException("no room for the task");
    assertThatThrownBy(queue::flush).isSameAs(refusal);
    refusal = null;
    add(2);
    queue.flush();
    assertThat(submitted).isEqualTo(1);
    assertThat(cleared).isEmpty();
    runAll();
    assertThat(processed).containsExactly(1, 2);
    assertThat(cleared).containsExactly(1, 2);
    assertWaitsNothing();
  }

  @Test
  void anErrorInAnItemDoesNotAffectOthers() {
    failures.add(new AssertionError("expected by this test"));
    failures.add(new IllegalStateException("expected by this test"));
    addAndFlush(200);
    runAll();
    assertThat(processed).isEqualTo(upTo(200).subList(2, 200));
    assertThat(cleared).isEqualTo(upTo(200));
    assertWaitsNothing();
  }

  @Test
  void theEndOfTheHeapIsPassedOnWhenOthersAreProcessed() {
    OutOfMemoryError endOfHeap = new OutOfMemoryError("expected by this test");
    failures.add(endOfHeap);
    addAndFlush(3);
    assertThatThrownBy(this::runAll).isSameAs(endOfHeap);
    assertThat(processed).containsExactly(2, 3);
    assertThat(cleared).containsExactly(1, 2, 3);
    assertWaitsNothing();
  }

  @Test
  void anItemThatCannotBeClearedDoesNotAffectOthers() {
    clearFailure = new IllegalStateException("expected by this test");
    addAndFlush(3);
    runAll();
    assertThat(processed).containsExactly(1, 2, 3);
    assertThat(cleared).containsExactly(1, 2, 3);
    assertWaitsNothing();
  }

  @Test
  void aDestinationThatHasEndedIsCountedAlsoWhereAnItemCannotBeCleared() {
    clearFailure = new IllegalStateException("expected by this test");
    add(1);
    refusal = new RejectedExecutionException("the loop has ended");
    assertThatThrownBy(queue::flush).isSameAs(clearFailure);
    clearFailure = null;
    refusal = null;
    assertWaitsNothing();
  }

  /** Asserts that the queue has room for all that it had room for at first. */
  private void assertWaitsNothing() {
    queue.add(1, 1, LIMIT);
    assertThat(queue.isFull()).isFalse();
    queue.add(2, 1, 1);
    assertThat(queue.isFull()).isTrue();
  }
}
