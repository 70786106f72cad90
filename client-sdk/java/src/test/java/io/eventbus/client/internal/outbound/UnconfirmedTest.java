package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Messages that were sent, and the state of their arrival. */
class UnconfirmedTest {
  private final Unconfirmed unconfirmed = new Unconfirmed();
  private final TopicState topic = new TopicState("a");
  private final List<PublishFrame> settled = new ArrayList<>();
  private final Deque<Batch> waiting = new ArrayDeque<>();

  /**
   * Sends a message with events that nobody waits for, and perhaps one frame that somebody does.
   */
  private Batch send(int plain, PublishFrame... frames) {
    Batch batch =
        new Batch(new byte[10 * frames.length], 10 * frames.length, list(frames), plain, 0);
    unconfirmed.sending(batch);
    unconfirmed.sent(batch);
    return batch;
  }

  private static List<PublishFrame> list(PublishFrame... frames) {
    for (int i = 0; i < frames.length; i++) {
      frames[i].start = 10 * i;
      frames[i].length = 10;
    }
    return List.of(frames);
  }

  private PublishFrame frame(long sequence, long created) {
    PublishFrame frame = new PublishFrame(topic, sequence, created);
    frame.eventCount = 1;
    frame.cost = 100;
    frame.waiters.add(new PublishFrame.Waiter(0, new CompletableFuture<>()));
    return frame;
  }

  private PublishFrame marker(long sequence) {
    PublishFrame frame = new PublishFrame(topic, sequence, 0);
    frame.eventCount = 1;
    frame.marker = true;
    return frame;
  }

  private Batch barrier() {
    Batch barrier = Batch.ofBarrier(new byte[1], 1);
    unconfirmed.sending(barrier);
    unconfirmed.sent(barrier);
    return barrier;
  }

  @Test
  void reportsPlainEventsAsLostOnceEach() {
    send(3);
    send(4);
    assertThat(unconfirmed.giveBack(waiting)).isEqualTo(7);
    assertThat(unconfirmed.giveBack(waiting)).isZero();
    send(1);
    assertThat(unconfirmed.giveBack(waiting)).isEqualTo(1);
    assertThat(unconfirmed.indeterminate()).isEqualTo(8);
    assertThat(waiting).isEmpty();
  }

  @Test
  void aConfirmationShowsThatWhatWasSentBeforeItHasArrived() {
    send(3);
    send(2, frame(1, 0));
    send(1);
    assertThat(unconfirmed.confirmed(topic, 1, settled)).isEqualTo(100);
    assertThat(settled).hasSize(1);
    assertThat(unconfirmed.isEmpty()).isTrue();
    assertThat(unconfirmed.giveBack(waiting)).isEqualTo(1);
  }

  @Test
  void aBarrierShowsWhatWasSentBeforeItAndNothingElse() {
    send(3);
    Batch barrier = barrier();
    send(2);
    unconfirmed.known(barrier);
    assertThat(unconfirmed.giveBack(waiting)).isEqualTo(2);
  }

  @Test
  void anEarlierAnswerDoesNotUndoALaterOne() {
    send(3);
    Batch first = barrier();
    send(2);
    unconfirmed.known(barrier());
    unconfirmed.known(first);
    // Made, and never sent.
    unconfirmed.known(Batch.ofBarrier(new byte[1], 2));
    assertThat(unconfirmed.giveBack(waiting)).isZero();
  }

  @Test
  void aMarkerIsNotSentAgain() {
    send(3, marker(4));
    assertThat(unconfirmed.isEmpty()).isTrue();
    assertThat(unconfirmed.giveBack(waiting)).isEqualTo(3);
    assertThat(waiting).isEmpty();
    assertThat(topic.unconfirmed).isEmpty();
  }

  @Test
  void returnsUnconfirmedMessagesInOrderToTheFront() {
    send(0, frame(1, 0), frame(2, 0));
    send(0, frame(3, 0));
    Batch next = new Batch(new byte[0], 0, List.of(frame(4, 0)), 0, 0);
    waiting.add(next);
    unconfirmed.confirmed(topic, 1, settled);
    unconfirmed.giveBack(waiting);
    assertThat(waiting)
        .extracting(batch -> batch.frames.get(0).firstSequence)
        .containsExactly(2L, 3L, 4L);
    assertThat(waiting).extracting(batch -> batch.resend).containsExactly(true, true, false);
    assertThat(waiting.getFirst().length).isEqualTo(10);
    assertThat(topic.unconfirmed).isEmpty();
    assertThat(unconfirmed.isEmpty()).isTrue();
  }

  @Test
  void aRefusalSettlesOneFrame() {
    send(0, frame(1, 0), frame(2, 0));
    assertThat(unconfirmed.refused(topic, 3)).isNull();
    assertThat(unconfirmed.refused(topic, 2)).isNotNull();
    assertThat(unconfirmed.isEmpty()).isFalse();
    unconfirmed.confirmed(topic, 2, settled);
    assertThat(settled).extracting(f -> f.firstSequence).containsExactly(1L);
    assertThat(unconfirmed.isEmpty()).isTrue();
  }

  @Test
  void removesExpiredFramesOnly() {
    send(0, frame(1, 10), frame(2, 20));
    send(0, frame(3, 30));
    assertThat(unconfirmed.expired(20, settled)).isEqualTo(200);
    assertThat(settled).extracting(f -> f.firstSequence).containsExactly(1L, 2L);
    assertThat(topic.unconfirmed).extracting(f -> f.firstSequence).containsExactly(3L);
  }
}
