package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.transport.Wire;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BacklogTest {
  private static final long BOUND = 100 * 1024;

  private final Wire wire = new Wire();
  private final Backlog backlog = new Backlog(wire.queues(), BOUND);

  @AfterEach
  void everythingIsGivenBack() {
    backlog.clear(lost -> {});
    assertThat(backlog.bytes()).isZero();
    wire.assertNothingHeld();
  }

  private Delivery delivery(String topic, long producer, long sequence, String key, int bytes) {
    return SampleFrames.delivery(
        wire.allocator,
        wire.memory,
        topic,
        producer,
        sequence,
        1,
        List.of(new SampleFrames.Event(key, "x".repeat(bytes))));
  }

  private void add(String topic, long sequence) {
    Delivery d = delivery(topic, 1, sequence, "k", 1000);
    backlog.add(d, Overflow.BLOCK);
    d.release();
  }

  private void conflate(String topic, long producer, long sequence, int bytes) {
    Delivery d = delivery(topic, producer, sequence, "same", bytes);
    assertThat(backlog.needsConflation(d)).isTrue();
    backlog.addConflating(d);
    d.release();
  }

  private void fill() {
    for (long i = 1; backlog.ring().bytes() + 1500 < BOUND; i++) {
      add("full", i);
    }
  }

  private Object poll() {
    Delivery d = backlog.ring().poll();
    Object frame = SampleFrames.read(d.frame()).get(0);
    d.release();
    return frame;
  }

  @Test
  void aGapThatIsNotToldYetIsNotOvertaken() {
    fill();
    conflate("t", 1, 1, 2000);
    // An event of another producer takes the place: the gap is not before any kept event.
    conflate("t", 2, 1, 3000);
    while (backlog.ring().bytes() > QueueWriter.MAX_COALESCED - 1000) {
      poll();
    }
    assertThat(backlog.refill()).isTrue();
    assertThat(backlog.gapCount()).as("the queue was full before the gap was told").isEqualTo(1);
    conflate("t", 1, 2, 10);
    List<Object> frames = new ArrayList<>();
    while (!backlog.ring().isEmpty()) {
      frames.add(poll());
      backlog.refill();
    }
    Gap gap = new Gap("t", 1L, 1L, 1L, GapReason.CONFLATED);
    assertThat(frames).contains(gap);
    assertThat(frames.get(frames.size() - 1))
        .isInstanceOfSatisfying(
            SampleFrames.Delivered.class, d -> assertThat(d.sequence()).isEqualTo(2));
    assertThat(backlog.gapCount()).isZero();
  }

  @Test
  void aTopicWhosePolicyChangedKeepsItsOrder() {
    fill();
    conflate("t", 1, 1, 2000);
    Delivery other = delivery("u", 1, 1, "k", 10);
    backlog.letConflatedGoFirst(other);
    assertThat(backlog.ring().bytes()).as("another topic does not matter").isLessThan(BOUND);
    other.release();
    Delivery next = delivery("t", 1, 2, "k", 10);
    backlog.letConflatedGoFirst(next);
    backlog.add(next, Overflow.BLOCK);
    next.release();
    List<Long> sequences = new ArrayList<>();
    while (!backlog.ring().isEmpty()) {
      if (poll() instanceof SampleFrames.Delivered d && d.topic().equals("t")) {
        sequences.add(d.sequence());
      }
    }
    assertThat(sequences).containsExactly(1L, 2L);
  }
}
