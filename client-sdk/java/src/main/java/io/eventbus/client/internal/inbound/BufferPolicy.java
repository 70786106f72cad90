package io.eventbus.client.internal.inbound;

import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.Overflow;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Overflow policy of a subscription, applied to the events that wait for it in this client. Events
 * beyond the buffer's bound are dropped and reported in their place, so that a slow subscription
 * does not stall the others of its client. For policies other than BLOCK. Confined to the lock of
 * the subscription's queue.
 */
final class BufferPolicy {
  private static final int END_OF_EVENTS = 0;

  /** Block of one event, as Avro encodes its count. */
  private static final int ONE_EVENT = 2;

  private final Overflow overflow;
  private final String filter;
  private final long maxBytes;
  private final @Nullable LatestEvents latest;
  private final LongSupplier epochMicros;
  private final EventCursor cursor = new EventCursor();

  /** Deliveries and notices that a policy has removed from a buffer. */
  static final class Dropped {
    final List<InboundDelivery> deliveries = new ArrayList<>();
    final List<Gap> gaps = new ArrayList<>();
    final List<Interruption> interruptions = new ArrayList<>();

    /** Adds a gap; merges it with the last one if it continues that. */
    private void add(Gap gap) {
      int last = gaps.size() - 1;
      if (last >= 0 && isContinued(gaps.get(last), gap)) {
        gaps.set(last, joined(gaps.get(last), gap));
      } else {
        gaps.add(gap);
      }
    }
  }

  BufferPolicy(
      Overflow overflow,
      String filter,
      long maxBytes,
      @Nullable LatestEvents latest,
      LongSupplier epochMicros) {
    this.overflow = overflow;
    this.filter = filter;
    this.maxBytes = maxBytes;
    this.latest = latest;
    this.epochMicros = epochMicros;
  }

  /**
   * Returns whether the policy closes the connection of a subscription whose buffer is over its
   * bound.
   */
  boolean disconnects() {
    return overflow == Overflow.DISCONNECT;
  }

  /**
   * Makes room; returns how many bytes are left.
   *
   * @param bytes of the waiting deliveries and of the one that the consumer is at
   */
  long apply(Deque<Inbound> waiting, long bytes, Dropped dropped) {
    // Less than the bound, so that one pass makes room for many frames.
    long target = disconnects() ? -1 : maxBytes / 4 * 3;
    long left = latest == null ? bytes : conflate(waiting, bytes, dropped, latest);
    return left > target ? dropOldest(waiting, left, target, dropped) : left;
  }

  private long bytes(Inbound what) {
    return what.bytes() + (latest == null ? 0 : LatestEvents.bytes(what));
  }

  private long dropOldest(Deque<Inbound> waiting, long bytes, long target, Dropped dropped) {
    long now = epochMicros.getAsLong();
    long left = bytes;
    Marks marks = new Marks();
    while (!waiting.isEmpty() && left + marks.bytes > target) {
      Inbound oldest = waiting.removeFirst();
      left -= bytes(oldest);
      if (oldest instanceof InboundDelivery events) {
        Gap gap = gap(events, events.skip, events.count - 1, Gap.Reason.BUFFER_FULL);
        if (latest != null) {
          latest.forget(events);
        }
        dropped.deliveries.add(events);
        dropped.add(gap);
        marks.add(new MissingEvents(gap, now));
      } else {
        marks.add(oldest);
      }
      if (marks.bytes > maxBytes / 2) {
        // There are so many streams that their numbers would take as much room as the events.
        Interruption whole =
            new Interruption(
                filter, Subscriptions.instant(marks.firstAt), Subscriptions.instant(now));
        dropped.interruptions.add(whole);
        marks = new Marks();
        marks.add(new Absence(whole));
      }
    }
    for (int i = marks.all.size() - 1; i >= 0; i--) {
      waiting.addFirst(marks.all.get(i));
    }
    return left + marks.bytes;
  }

  /** Keeps the last event of each topic and key. */
  private long conflate(Deque<Inbound> waiting, long bytes, Dropped dropped, LatestEvents known) {
    long now = epochMicros.getAsLong();
    long left = bytes;
    Marks kept = new Marks();
    for (Iterator<Inbound> items = waiting.iterator(); items.hasNext(); ) {
      Inbound item = items.next();
      left -= bytes(item);
      if (item instanceof InboundDelivery events) {
        conflate(events, kept, dropped, known, now);
      } else {
        kept.add(item);
      }
    }
    waiting.clear();
    waiting.addAll(kept.all);
    return left + kept.bytes;
  }

  private void conflate(
      InboundDelivery events, Marks kept, Dropped dropped, LatestEvents known, long now) {
    boolean[] stays = new boolean[events.count];
    int staying = 0;
    cursor.wrap(events.message, events.eventsStart, events.eventsEnd, FrameLimits.UNLIMITED);
    while (cursor.next()) {
      int index = cursor.index();
      stays[index] = index >= events.skip && known.isLatest(events, cursor);
      staying += stays[index] ? 1 : 0;
    }
    if (staying == events.count - events.skip) {
      kept.add(events);
      return;
    }
    dropped.deliveries.add(events);
    // A single walk for all parts: there may be half as many parts as events.
    cursor.wrap(events.message, events.eventsStart, events.eventsEnd, FrameLimits.UNLIMITED);
    for (int from = events.skip; from < events.count; ) {
      int to = from;
      while (to < events.count && stays[to] == stays[from]) {
        to++;
      }
      if (stays[from]) {
        kept.add(part(events, from, to));
      } else {
        Gap gap = gap(events, from, to - 1, Gap.Reason.BUFFER_CONFLATED);
        dropped.add(gap);
        kept.add(new MissingEvents(gap, now));
      }
      from = to;
    }
  }

  /**
   * Copies a range of events, so that the message they came in can be freed. Expects the cursor at
   * the first of them or before it, and leaves it behind the last.
   */
  private InboundDelivery part(InboundDelivery events, int from, int to) {
    while (cursor.index() < from) {
      cursor.next();
    }
    int[] starts = new int[to - from];
    int[] ends = new int[to - from];
    int bytes = 1;
    for (int i = 0; i < starts.length; i++) {
      starts[i] = cursor.eventStart();
      ends[i] = cursor.eventEnd();
      bytes += 1 + ends[i] - starts[i];
      cursor.next();
    }
    ByteBuffer own = ByteBuffer.allocate(bytes);
    for (int i = 0; i < starts.length; i++) {
      own.put((byte) ONE_EVENT);
      own.put(events.message.slice(starts[i], ends[i] - starts[i]));
    }
    own.put((byte) END_OF_EVENTS).flip();
    return events.part(own, from, to - from);
  }

  private Gap gap(InboundDelivery events, int first, int last, Gap.Reason reason) {
    return new Gap(
        events.origin.topic.name,
        events.origin.producer,
        events.sequence + first,
        events.sequence + last,
        reason,
        filter);
  }

  private static boolean isContinued(Gap gap, Gap next) {
    return gap.to() + 1 == next.from()
        && gap.producer() == next.producer()
        && gap.reason() == next.reason()
        && gap.topic().equals(next.topic());
  }

  private static Gap joined(Gap gap, Gap next) {
    return new Gap(gap.topic(), gap.producer(), gap.from(), next.to(), gap.reason(), gap.filter());
  }

  /**
   * Key of a stream of events. Comparable, because others choose topics: a table in which all of
   * them collide stays fast.
   */
  private record Stream(String topic, long producer, Gap.Reason reason)
      implements Comparable<Stream> {
    private static final Comparator<Stream> ORDER =
        Comparator.comparing(Stream::topic)
            .thenComparingLong(Stream::producer)
            .thenComparing(Stream::reason);

    @Override
    public int compareTo(Stream other) {
      return ORDER.compare(this, other);
    }
  }

  /**
   * List of what stays, in order; a gap that continues the last gap of its stream, without an event
   * between, is merged with it.
   */
  private final class Marks {
    final List<Inbound> all = new ArrayList<>();
    final Map<Stream, Integer> open = new HashMap<>();
    long bytes;
    // Time of the first notice in microseconds since the epoch; 0 for none.
    long firstAt;

    void add(Inbound what) {
      if (what instanceof MissingEvents missing) {
        firstAt = firstAt == 0 ? missing.foundAt() : firstAt;
        Gap gap = missing.gap();
        Stream stream = new Stream(gap.topic(), gap.producer(), gap.reason());
        Integer at = open.get(stream);
        if (at != null
            && all.get(at) instanceof MissingEvents before
            && isContinued(before.gap(), gap)) {
          all.set(at, new MissingEvents(joined(before.gap(), gap), before.foundAt()));
          return;
        }
        open.put(stream, all.size());
      } else if (what instanceof InboundDelivery events) {
        for (Gap.Reason reason : Gap.Reason.values()) {
          open.remove(new Stream(events.origin.topic.name, events.origin.producer, reason));
        }
      } else if (what instanceof Absence absence) {
        firstAt = firstAt == 0 ? Subscriptions.micros(absence.interruption().from()) : firstAt;
        open.clear();
      }
      all.add(what);
      bytes += BufferPolicy.this.bytes(what);
    }
  }
}
