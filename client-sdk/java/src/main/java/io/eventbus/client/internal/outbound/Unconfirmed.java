package io.eventbus.client.internal.outbound;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of the {@link Outbox} behind the network: messages that were sent and whose confirmation is
 * outstanding, in the order in which they were sent. Guarded by the outbox's lock.
 *
 * <p>It also knows how many events without a stage may be lost: those sent after the last frame or
 * barrier that the bus has answered. At every moment {@code plainKnown <= plainSent}; each event is
 * reported as indeterminate at most once, because what was reported counts as known.
 */
final class Unconfirmed {
  private final Deque<Batch> batches = new ArrayDeque<>();
  private final Deque<PublishFrame> markers = new ArrayDeque<>();
  private long plainSent;
  private long plainKnown;
  private long indeterminate;

  /** Records that a message leaves: from now on the bus may answer it. */
  void sending(Batch batch) {
    batch.plainBefore = plainSent;
    plainSent += batch.plainEvents;
    for (PublishFrame frame : batch.frames) {
      frame.plainBefore = plainSent;
      frame.topic.unconfirmed.addLast(frame);
      if (frame.marker) {
        markers.addLast(frame);
      }
    }
  }

  /**
   * Records that the network has accepted a message; returns its array if it is free to be used
   * again.
   */
  byte @Nullable [] sent(Batch batch) {
    if (batch.isSettled()) {
      return batch.isBarrier() ? null : batch.array;
    }
    if (batch.length < batch.array.length / 2) {
      byte[] free = batch.array;
      batches.addLast(batch.unsettledCopy());
      return free;
    }
    batches.addLast(batch);
    return null;
  }

  boolean isEmpty() {
    trim();
    return batches.isEmpty();
  }

  /** Returns the number of events that were sent and may be lost with the connection. */
  long unsettled() {
    return plainSent - plainKnown + batches.stream().mapToLong(Batch::unconfirmedEvents).sum();
  }

  long indeterminate() {
    return indeterminate;
  }

  /** Settles frames up to a sequence; returns their bytes of the buffer. */
  long confirmed(TopicState topic, long lastSequence, List<PublishFrame> into) {
    long cost = 0;
    for (PublishFrame frame = topic.unconfirmed.peekFirst();
        frame != null && frame.lastSequence() <= lastSequence;
        frame = topic.unconfirmed.peekFirst()) {
      topic.unconfirmed.removeFirst();
      cost += settle(frame);
      into.add(frame);
    }
    trim();
    return cost;
  }

  @Nullable PublishFrame refused(TopicState topic, long firstSequence) {
    for (Iterator<PublishFrame> frames = topic.unconfirmed.iterator(); frames.hasNext(); ) {
      PublishFrame frame = frames.next();
      if (frame.firstSequence == firstSequence) {
        frames.remove();
        settle(frame);
        trim();
        return frame;
      }
    }
    return null;
  }

  /** Settles frames that have timed out; returns their bytes of the buffer. */
  long expired(long bornBefore, List<PublishFrame> into) {
    long cost = 0;
    for (Batch batch : batches) {
      for (PublishFrame frame : batch.frames) {
        if (frame.settled || frame.marker) {
          continue;
        }
        if (frame.createdNanos - bornBefore > 0) {
          // Frames are in the order of their birth.
          trim();
          return cost;
        }
        frame.topic.unconfirmed.remove(frame);
        cost += settle(frame);
        into.add(frame);
      }
    }
    trim();
    return cost;
  }

  private long settle(PublishFrame frame) {
    frame.settled = true;
    plainKnown = Math.max(plainKnown, frame.plainBefore);
    return frame.cost;
  }

  private void trim() {
    for (Batch head = batches.peekFirst();
        head != null && head.isSettled();
        head = batches.peekFirst()) {
      batches.removeFirst();
    }
    for (PublishFrame head = markers.peekFirst();
        head != null && head.settled;
        head = markers.peekFirst()) {
      markers.removeFirst();
    }
  }

  /**
   * Records that the bus has answered a barrier; a barrier that was not sent since it was created
   * says nothing.
   */
  void known(Batch barrier) {
    plainKnown = Math.max(plainKnown, barrier.plainBefore);
  }

  /**
   * Returns unconfirmed messages to the front of the queue, because the connection is lost; returns
   * how many events without a stage may be lost.
   */
  long giveBack(Deque<Batch> waiting) {
    markers.forEach(marker -> marker.topic.unconfirmed.clear());
    markers.clear();
    while (!batches.isEmpty()) {
      Batch last = batches.removeLast();
      last.frames.forEach(frame -> frame.topic.unconfirmed.clear());
      if (!last.isSettled()) {
        Batch again = last.unsettledCopy();
        again.resend = true;
        waiting.addFirst(again);
      }
    }
    long unknown = plainSent - plainKnown;
    plainKnown = plainSent;
    indeterminate += unknown;
    return unknown;
  }
}
