package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.transport.QueueHandler;
import io.eventbus.server.transport.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Queue on a bus whose memory others have taken. */
class OutboundQueueMemoryTest {
  private static final int BYTES = 1000;

  private final Wire wire = new Wire(Wire.queue("1MiB"));
  private final QueueHandler handler = wire.connectQueue();
  private final OutboundQueue queue = handler.queue;
  private final long others = wire.memory.limit() / 2;
  private long sequence;

  OutboundQueueMemoryTest() {
    wire.memory.reserve(others);
  }

  @AfterEach
  void everythingIsGivenBack() {
    wire.assertNothingHeld();
  }

  private void offer(int events, Overflow overflow) {
    handler.offer(sequence + 1, events, BYTES, overflow);
    sequence += events;
    wire.run();
  }

  @Test
  void aReaderThatDoesNotReadHoldsLittleInItsQueueAndOnTheWayToTheSocket() {
    wire.stick();
    offer(200, Overflow.DROP_OLDEST);
    assertThat(queue.bytes()).isLessThan(8 * BYTES);
    assertThat(wire.memory.used() - others).isLessThan(24 * BYTES);
    assertThat(queue.dropped()).isGreaterThan(180);
    wire.memory.release(others);
  }

  @Test
  void aReaderThatReadsGetsEverything() {
    offer(200, Overflow.DROP_OLDEST);
    assertThat(queue.dropped()).isZero();
    assertThat(queue.isEmpty()).isTrue();
    assertThat(wire.frames()).hasSize(200);
    wire.memory.release(others);
  }

  @Test
  void goesOnWritingWhenOthersHaveMadeRoom() {
    wire.stick();
    offer(8, Overflow.BLOCK);
    assertThat(queue.isEmpty()).isFalse();
    wire.memory.release(others);
    queue.onTick(System.nanoTime());
    wire.run();
    assertThat(queue.isEmpty()).as("given to the socket").isTrue();
  }

  @Test
  void aLongQueueShrinksWithEachDelivery() {
    shrinks(Overflow.DROP_OLDEST);
  }

  @Test
  void manyKeptValuesShrinkWithEachDelivery() {
    shrinks(Overflow.CONFLATE);
  }

  private void shrinks(Overflow overflow) {
    wire.memory.release(others);
    wire.stick();
    offer(200, overflow);
    // Values are kept aside from when the socket takes no more.
    long given = queue.bytes();
    offer(500, overflow);
    assertThat(queue.dropped()).as("in a bus with room").isZero();
    long before = queue.bytes();
    wire.memory.reserve(others);
    offer(1, overflow);
    assertThat(queue.dropped()).as("the work of one delivery").isBetween(1L, 4L);
    assertThat(queue.bytes()).isLessThan(before);
    offer(500, overflow);
    assertThat(queue.bytes()).isLessThan(given + 10 * BYTES);
    wire.memory.release(others);
  }
}
