package io.eventbus.client.internal.outbound;

import io.eventbus.client.Published;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Sent {@code Publish} frame that asks for a confirmation, and the stages that wait for it. Guarded
 * by the {@link Outbox}'s lock, except for completing stages, which happens after it was removed.
 */
public final class PublishFrame {
  final TopicState topic;
  final long createdNanos;
  final List<Waiter> waiters = new ArrayList<>(4);
  long firstSequence;
  int eventCount;
  // Position of the frame in its batch.
  int start;
  int length;
  // Bytes of the outbound buffer.
  long cost;
  // Has options that only durable topics have.
  boolean needsDurable;
  // Nobody waits for it: it only shows how far the bus has come.
  boolean marker;
  boolean settled;
  // As the bus has confirmed it.
  long receivers = -1;
  // Of the last event; 0 for none or unknown.
  long position;
  boolean repeated;
  // Number of events without a stage that had been sent when this frame was.
  long plainBefore;

  PublishFrame(TopicState topic, long firstSequence, long createdNanos) {
    this.topic = topic;
    this.firstSequence = firstSequence;
    this.createdNanos = createdNanos;
  }

  long lastSequence() {
    return firstSequence + eventCount - 1;
  }

  /** Returns whether its event asks for what only durable topics have. */
  public boolean needsDurable() {
    return needsDurable;
  }

  /** Returns whether a stage waits for it. */
  public boolean isAwaited() {
    return !waiters.isEmpty();
  }

  /** Returns the stages apart from the frame, to be completed while the frame itself stays. */
  PublishFrame withoutFrame() {
    PublishFrame waitersOnly = new PublishFrame(topic, firstSequence, createdNanos);
    waitersOnly.waiters.addAll(waiters);
    waiters.clear();
    return waitersOnly;
  }

  void confirm(Waiter waiter, long producer) {
    waiter.stage.complete(
        new Published(
            topic.name,
            producer,
            firstSequence + waiter.index,
            receivers,
            positionOf(waiter.index),
            repeated));
  }

  private long positionOf(int index) {
    int behind = eventCount - 1 - index;
    // Of a frame that was stored before, or a part of it, only the last position is known.
    return position == 0 || (repeated && behind > 0) ? 0 : position - behind;
  }

  /** Stage of the event with this index in the frame. */
  record Waiter(int index, CompletableFuture<Published> stage) {}
}
