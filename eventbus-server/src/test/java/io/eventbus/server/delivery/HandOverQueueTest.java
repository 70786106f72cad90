package io.eventbus.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.schema.Overflow;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.SampleFrames;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HandOverQueueTest {
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final BusMemory memory = new BusMemory(1 << 30);
  private final FakeLoops loops = new FakeLoops(1);
  private final HandOverQueue queue = new HandOverQueue(loops.executor(0));
  private final FakeSubscriber one = new FakeSubscriber(0);
  private final FakeSubscriber two = new FakeSubscriber(0);
  private final RouteTarget[] both = {
    new RouteTarget(one, Overflow.BLOCK), new RouteTarget(two, Overflow.DROP_OLDEST)
  };

  private Delivery delivery(long sequence, int bytes) {
    return SampleFrames.delivery(
        allocator,
        memory,
        "t",
        1,
        sequence,
        0,
        List.of(new SampleFrames.Event(null, "x".repeat(bytes))));
  }

  /** Adds a delivery that belongs to the queue alone. */
  private boolean add(long sequence, int bytes) {
    Delivery d = delivery(sequence, bytes);
    boolean first = queue.add(d, both);
    d.release();
    return first;
  }

  @Test
  void aCycleIsOneTaskAndKeepsTheOrder() {
    queue.flush();
    assertThat(loops.submitted(0)).as("nothing to hand over").isZero();
    assertThat(add(1, 1)).as("the first is to be followed by a flush").isTrue();
    for (int i = 2; i <= 200; i++) {
      assertThat(add(i, 1)).isFalse();
    }
    assertThat(loops.submitted(0)).isZero();
    queue.flush();
    queue.flush();
    assertThat(loops.submitted(0)).isEqualTo(1);
    assertThat(one.got).isEmpty();
    loops.runAll();
    assertThat(one.got).extracting(SampleFrames.Delivered::sequence).hasSize(200).isSorted();
    assertThat(two.got).isEqualTo(one.got);
    assertThat(one.policies).containsOnly(Overflow.BLOCK);
    assertThat(two.policies).containsOnly(Overflow.DROP_OLDEST);
    assertThat(memory.used()).as("every reference given back").isZero();
  }

  @Test
  void aBurstIsSeveralTasksAndKeepsTheOrder() {
    int many = 10_000;
    for (int i = 1; i <= many; i++) {
      add(i, 1);
    }
    queue.flush();
    assertThat(loops.submitted(0)).isEqualTo(2 * many / 512 + 1);
    loops.runAll();
    assertThat(one.got).extracting(SampleFrames.Delivered::sequence).hasSize(many).isSorted();
    assertThat(memory.used()).isZero();
  }

  @Test
  void cyclesThatOverlapStayInOrder() {
    for (int cycle = 0; cycle < 50; cycle++) {
      assertThat(add(cycle * 2 + 1, 1)).isTrue();
      assertThat(add(cycle * 2 + 2, 1)).isFalse();
      queue.flush();
      if (cycle % 3 == 0) {
        loops.runOne(0);
      }
    }
    loops.runAll();
    assertThat(one.got).extracting(SampleFrames.Delivered::sequence).hasSize(100).isSorted();
    assertThat(memory.used()).isZero();
  }

  @Test
  void isFullAboveItsLimitAndWakesBelowHalf() {
    AtomicInteger woken = new AtomicInteger();
    int mebibyte = 1 << 20;
    for (int i = 1; i <= 16; i++) {
      assertThat(queue.isFull()).isFalse();
      add(i, mebibyte);
      queue.flush();
    }
    assertThat(queue.isFull()).isTrue();
    queue.whenNotFull(woken::incrementAndGet);
    for (int i = 1; i <= 8; i++) {
      loops.runOne(0);
      assertThat(woken).hasValue(0);
    }
    assertThat(queue.isFull()).isFalse();
    loops.runOne(0);
    assertThat(woken).hasValue(1);
    loops.runAll();
    assertThat(woken).hasValue(1);
    queue.whenNotFull(woken::incrementAndGet);
    assertThat(woken).as("at once when there is room").hasValue(2);
  }

  @Test
  void aDestinationThatHasEndedCostsNothing() {
    AtomicInteger woken = new AtomicInteger();
    add(1, (int) HandOverQueue.LIMIT);
    queue.whenNotFull(woken::incrementAndGet);
    assertThat(woken).hasValue(0);
    loops.end();
    queue.flush();
    assertThat(memory.used()).isZero();
    assertThat(queue.isFull()).isFalse();
    assertThat(woken).hasValue(1);
    assertThat(one.got).isEmpty();
  }

  @Test
  void aSubscriberThatThrowsAnErrorLosesItsOwnDeliveryOnly() {
    one.failure = new AssertionError("expected by this test");
    addTwoDeliveries();
    loops.runAll();
    assertThat(one.failed).as("events lost").isEqualTo(2);
    assertThat(two.got).hasSize(2);
    assertThat(memory.used()).isZero();
  }

  @Test
  void theEndOfTheHeapIsPassedOnWhenTheOthersHaveTheirs() {
    one.failure = new OutOfMemoryError("expected by this test");
    addTwoDeliveries();
    assertThatThrownBy(loops::runAll).isSameAs(one.failure);
    assertThat(two.got).hasSize(2);
    assertThat(memory.used()).isZero();
    assertThat(queue.isFull()).isFalse();
  }

  private void addTwoDeliveries() {
    add(1, 1);
    add(2, 1);
    queue.flush();
  }

  @Test
  void aReleasedDeliveryCannotBeAdded() {
    Delivery d = delivery(1, 1);
    d.release();
    assertThatThrownBy(() -> queue.add(d, both)).isInstanceOf(IllegalStateException.class);
  }
}
