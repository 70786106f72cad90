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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeliveryHandOverTest {
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final BusMemory memory = new BusMemory(1 << 30);
  private final FakeLoops loops = new FakeLoops(1);
  private final DeliveryHandOver queue = new DeliveryHandOver(loops.executor(0));
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

  private void addTwoDeliveries() {
    add(1, 1);
    add(2, 1);
    queue.flush();
  }

  @Test
  void allSubscribersGetAllDeliveriesInOrder() {
    assertThat(add(1, 1)).as("the first is to be followed by a flush").isTrue();
    for (int i = 2; i <= 200; i++) {
      assertThat(add(i, 1)).isFalse();
    }
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
  void aTaskHasABoundInSubscribers() {
    for (int i = 1; i < 256; i++) {
      assertThat(add(i, 1)).isEqualTo(i == 1);
    }
    assertThat(loops.submitted(0)).isZero();
    add(256, 1);
    assertThat(loops.submitted(0)).as("at once").isEqualTo(1);
    assertThat(add(257, 1)).as("the first of the next").isTrue();
    queue.flush();
    loops.runAll();
    assertThat(memory.used()).isZero();
  }

  @Test
  void aDeliveryToThousandsIsSeveralTasks() {
    List<FakeSubscriber> crowd = IntStream.range(0, 1300).mapToObj(FakeSubscriber::new).toList();
    RouteTarget[] targets =
        crowd.stream().map(s -> new RouteTarget(s, Overflow.BLOCK)).toArray(RouteTarget[]::new);
    Delivery d = delivery(1, 1);
    assertThat(DeliveryHandOver.isLarge(d, targets)).isTrue();
    assertThat(DeliveryHandOver.isLarge(d, both)).isFalse();
    assertThat(queue.add(d, targets)).as("a part is to be flushed").isTrue();
    d.release();
    assertThat(loops.submitted(0)).isEqualTo(2);
    queue.flush();
    assertThat(loops.submitted(0)).isEqualTo(3);
    loops.runOne(0);
    assertThat(crowd.stream().filter(s -> s.got.size() == 1)).hasSize(512);
    assertThat(queue.isIdle()).isFalse();
    loops.runAll();
    assertThat(crowd).allSatisfy(s -> assertThat(s.got).hasSize(1));
    assertThat(queue.isIdle()).isTrue();
    assertThat(memory.used()).isZero();
  }

  @Test
  void isFullAboveItsLimitInBytes() {
    AtomicInteger woken = new AtomicInteger();
    int mebibyte = 1 << 20;
    for (int i = 1; i <= 16; i++) {
      assertThat(queue.isFull()).isFalse();
      add(i, mebibyte);
      queue.flush();
    }
    assertThat(queue.isFull()).isTrue();
    queue.whenNotFull(woken::incrementAndGet);
    loops.runAll();
    assertThat(woken).hasValue(1);
  }

  @Test
  void aDestinationThatHasEndedCostsNothing() {
    add(1, (int) DeliveryHandOver.LIMIT);
    loops.end();
    queue.flush();
    assertThat(memory.used()).isZero();
    assertThat(queue.isFull()).isFalse();
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

  @Test
  void aDeliveryThatCannotBeReleasedLosesNoOther() {
    Delivery broken = delivery(1, 1);
    queue.add(broken, both);
    broken.release();
    add(2, 1);
    queue.flush();
    // The reference of the queue: its own release throws.
    broken.release();
    loops.runAll();
    assertThat(two.got).extracting(SampleFrames.Delivered::sequence).contains(2L);
    assertThat(memory.used()).isZero();
    assertThat(queue.isFull()).isFalse();
  }

  @Test
  void aReleasedDeliveryCannotBeAdded() {
    Delivery d = delivery(1, 1);
    d.release();
    assertThatThrownBy(() -> queue.add(d, both)).isInstanceOf(IllegalStateException.class);
  }
}
