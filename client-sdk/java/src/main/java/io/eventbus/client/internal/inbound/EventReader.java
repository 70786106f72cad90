package io.eventbus.client.internal.inbound;

import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reader of the events of a subscription's queue, which decodes one at a time. An event is
 * acknowledged and its memory released when the next one is asked for. For one thread at a time.
 */
final class EventReader {
  private final InboundQueue queue;
  private final Acks acks;
  private final LongAdder received;
  private final long releaseAt;
  private final EventCursor cursor = new EventCursor();
  private Deque<Inbound> taken = new ArrayDeque<>();
  private @Nullable InboundDelivery current;
  private long finishedBytes;
  private volatile Consumer<Gap> onGap = gap -> {};
  private volatile Consumer<Interruption> onInterruption = interruption -> {};

  // Under CONFLATE: the filter of superseded events, the callback for them, and the gap that is
  // still to be told.
  private final @Nullable LatestEvents latest;
  private final String filter;
  private final Consumer<Gap> conflated;
  private @Nullable ProducerState skippedOf;
  private long skippedFrom;
  private long skippedTo;
  private int skippedHere;

  /**
   * Creates a reader.
   *
   * @param latest filter of events to skip; null for none
   * @param conflated is told of skipped events, before the consumer
   */
  EventReader(
      InboundQueue queue,
      Acks acks,
      LongAdder received,
      long maxBytes,
      @Nullable LatestEvents latest,
      String filter,
      Consumer<Gap> conflated) {
    this.queue = queue;
    this.acks = acks;
    this.received = received;
    this.releaseAt = maxBytes / 4;
    this.latest = latest;
    this.filter = filter;
    this.conflated = conflated;
  }

  /** Sets the callback for missing events; {@link #next} calls it in order with the events. */
  void onGap(Consumer<Gap> gaps) {
    onGap = gaps;
  }

  /** Sets the callback for interruptions; {@link #next} calls it in order with the events. */
  void onInterruption(Consumer<Interruption> interruptions) {
    onInterruption = interruptions;
  }

  /** Returns the next event, or null if there is none now. */
  @Nullable ReceivedEvent next() {
    while (true) {
      InboundDelivery delivery = current;
      if (delivery != null) {
        if (cursor.next()) {
          if (latest == null || latest.take(delivery, cursor)) {
            tellSkipped();
            return new DeliveredEvent(delivery, cursor);
          }
          skippedHere++;
          skip(delivery.origin, delivery.sequence + cursor.index());
          continue;
        }
        finish(delivery);
      }
      Inbound next = taken.pollFirst();
      if (next == null) {
        release();
        taken = queue.take(taken);
        next = taken.pollFirst();
      }
      if (next == null) {
        tellSkipped();
        return null;
      }
      if (next instanceof InboundDelivery events) {
        start(events);
      } else if (next instanceof MissingEvents missing) {
        finished(missing);
        tellSkipped();
        onGap.accept(missing.gap());
      } else if (next instanceof Absence absence) {
        finished(absence);
        tellSkipped();
        onInterruption.accept(absence.interruption());
      }
    }
  }

  private void start(InboundDelivery delivery) {
    current = delivery;
    cursor.wrap(delivery.message, delivery.eventsStart, delivery.eventsEnd, FrameLimits.UNLIMITED);
    for (int i = 0; i < delivery.skip; i++) {
      cursor.next();
    }
  }

  private void skip(ProducerState origin, long sequence) {
    if (skippedOf != origin || sequence != skippedTo + 1) {
      tellSkipped();
      skippedOf = origin;
      skippedFrom = sequence;
    }
    skippedTo = sequence;
  }

  private void tellSkipped() {
    ProducerState origin = skippedOf;
    if (origin != null) {
      skippedOf = null;
      Gap gap =
          new Gap(
              origin.topic.name,
              origin.producer,
              skippedFrom,
              skippedTo,
              Gap.Reason.BUFFER_CONFLATED,
              filter);
      conflated.accept(gap);
      onGap.accept(gap);
    }
  }

  private void finish(InboundDelivery delivery) {
    current = null;
    received.add(delivery.count - delivery.skip - skippedHere);
    skippedHere = 0;
    if (delivery.handled()) {
      acks.handled(delivery);
    }
    finished(delivery);
  }

  private void finished(Inbound what) {
    finishedBytes += what.bytes() + (latest == null ? 0 : LatestEvents.bytes(what));
    if (finishedBytes >= releaseAt) {
      release();
    }
  }

  private void release() {
    if (finishedBytes > 0) {
      queue.release(finishedBytes);
      finishedBytes = 0;
    }
  }

  /** Returns whether {@link #next} would find nothing of what was taken from the queue. */
  boolean isEmpty() {
    InboundDelivery delivery = current;
    return taken.isEmpty() && (delivery == null || cursor.index() >= delivery.count - 1);
  }

  /** Releases everything that was taken from the queue. */
  void discard() {
    taken.clear();
    current = null;
    skippedOf = null;
    skippedHere = 0;
    if (latest != null) {
      latest.clear();
    }
  }
}
