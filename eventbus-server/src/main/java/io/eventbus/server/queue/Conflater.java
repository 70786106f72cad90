package io.eventbus.server.queue;

import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.Frames;
import io.eventbus.schema.GapReason;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.memory.HeapBytes;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Events that have to wait under CONFLATE: of each topic and key the last one.
 *
 * <p>A new event of a key takes the place of the old one and goes to the end, so that the others
 * stay in the order in which they came. Events without a key share one place for their topic.
 * Confined to the subscriber's loop; bounded in bytes: when even the last events of all keys are
 * too many, the oldest are dropped, and nothing is copied that would be dropped at once. Kept
 * events are on the heap and counted as what they take there.
 */
final class Conflater {
  /** Bytes of the event, its places in the map, its key's record, and the headers of its bytes. */
  private static final int KEPT_BYTES = 208;

  /**
   * Key that is comparable, because clients choose keys: a table in which all of them collide stays
   * fast.
   */
  private record Key(String topic, @Nullable String key) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int byTopic = topic.compareTo(other.topic);
      if (byTopic != 0 || key == null || other.key == null) {
        return byTopic != 0 ? byTopic : Boolean.compare(key != null, other.key != null);
      }
      return key.compareTo(other.key);
    }
  }

  /** Kept event, or a frame that only waits for its turn behind events. */
  static final class Kept {
    private final String topic;
    private final long producer;
    private final long sequence;
    private final byte[] frame;
    private final long receivedNanos;
    private final long bytes;
    private final @Nullable Delivery control;

    private Kept(
        String topic, long producer, long sequence, byte[] frame, long receivedNanos, long bytes) {
      this.topic = topic;
      this.producer = producer;
      this.sequence = sequence;
      this.frame = frame;
      this.receivedNanos = receivedNanos;
      this.bytes = bytes;
      this.control = null;
    }

    private Kept(Delivery control) {
      this.topic = "";
      this.producer = 0;
      this.sequence = 0;
      this.frame = new byte[0];
      this.receivedNanos = 0;
      this.bytes = control.size();
      this.control = control;
    }

    String topic() {
      return topic;
    }

    long producer() {
      return producer;
    }

    long sequence() {
      return sequence;
    }

    /** Returns whether it is a frame that only waits for its turn, rather than an event. */
    boolean isControl() {
      return control != null;
    }

    /** Creates the delivery to be queued; once. The caller gets its reference. */
    Delivery delivery(DeliveryAllocator deliveries) {
      Delivery waiting = control;
      if (waiting != null) {
        return waiting;
      }
      Delivery made = deliveries.allocate(DeliveryKind.EVENTS, frame.length, 1, receivedNanos);
      made.append(ByteBuffer.wrap(frame));
      made.finish();
      return made;
    }
  }

  private final BusMemory memory;
  private final LastEvents lastEvents;
  private final GapLedger gaps = new GapLedger();
  private long limit;
  private final Map<Key, Kept> kept = new LinkedHashMap<>();
  private final Map<String, Integer> topics = new HashMap<>();
  private long bytes;
  private long controlBytes;
  private long controls;

  Conflater(BusMemory memory, LastEvents lastEvents, long limit) {
    this.memory = memory;
    this.lastEvents = lastEvents;
    this.limit = limit;
  }

  /** Changes the maximum of bytes, from the next event on. */
  void limit(long max) {
    limit = max;
  }

  /** Returns about the bytes of keeping an event. */
  static long keptBytes(int eventBytes, @Nullable String key) {
    return KEPT_BYTES + eventBytes + (key == null ? 0 : HeapBytes.ofString(key));
  }

  /** Number of events dropped to add a delivery. */
  record Dropped(int conflated, int overLimit) {}

  /** Adds the last event of each key of a delivery; the others become gaps. */
  Dropped add(Delivery delivery) {
    lastEvents.find(delivery, limit);
    DeliverView frame = lastEvents.frame();
    String topic = lastEvents.topic();
    int cut = lastEvents.cut();
    int conflated = frame.eventCount() - cut - lastEvents.count();
    int overLimit = cut;
    tell(topic, frame, 0, cut, GapReason.QUEUE_FULL);
    int next = cut;
    for (int i = lastEvents.count() - 1; i >= 0; i--) {
      int number = lastEvents.number(i);
      tell(topic, frame, next, number, GapReason.CONFLATED);
      next = number + 1;
      Key key = new Key(topic, lastEvents.key(i));
      EventCursor event = lastEvents.event(i);
      long size = keptBytes(event.eventEnd() - event.eventStart(), key.key());
      // Before the old value is removed: the new one may use its room.
      long room = room(size);
      Kept before = kept.remove(key);
      if (before != null) {
        drop(before, GapReason.CONFLATED);
        conflated++;
      }
      overLimit += makeRoom(size, room);
      if (bytes + size > room) {
        tell(topic, frame, number, number + 1, GapReason.QUEUE_FULL);
        overLimit++;
        continue;
      }
      byte[] single = new byte[Frames.singleDeliverSize(frame, event)];
      Frames.writeSingleDeliver(ByteBuffer.wrap(single), lastEvents.bytes(), frame, event);
      long sequence = frame.sequence() + number;
      keep(
          key, new Kept(topic, frame.producer(), sequence, single, delivery.receivedNanos(), size));
    }
    return new Dropped(conflated, overLimit);
  }

  /** Returns the bytes that may be kept now: no more than are, while the bus has too much. */
  private long room(long size) {
    long room = memory.isOver() ? Math.min(limit, bytes) : limit;
    // As in Backlog.addDropping.
    return Math.max(room, bytes - size);
  }

  private void keep(Key key, Kept now) {
    kept.put(key, now);
    topics.merge(now.topic, 1, Integer::sum);
    bytes += now.bytes;
    memory.reserve(now.bytes);
  }

  /** Records events of a frame as a gap, from one number to before another. */
  private void tell(String topic, DeliverView frame, int from, int to, GapReason reason) {
    if (from < to) {
      long first = frame.sequence();
      gaps.add(topic, frame.producer(), first + from, first + to - 1, reason);
    }
  }

  /**
   * Keeps a frame that holds no events in its place behind the kept events; it is never dropped.
   * Takes over the caller's reference.
   */
  void addControl(Delivery frame) {
    // No event has an empty topic.
    kept.put(new Key("", Long.toString(controls++)), new Kept(frame));
    bytes += frame.size();
    controlBytes += frame.size();
  }

  private int makeRoom(long size, long room) {
    int dropped = 0;
    Iterator<Kept> oldest = kept.values().iterator();
    while (bytes + size > room && oldest.hasNext()) {
      Kept victim = oldest.next();
      if (!victim.isControl()) {
        oldest.remove();
        drop(victim, GapReason.QUEUE_FULL);
        dropped++;
      }
    }
    return dropped;
  }

  /** Returns whether events of a topic are kept: others of that topic must not overtake them. */
  boolean holds(String topic) {
    return topics.containsKey(topic);
  }

  private void forget(Kept gone) {
    bytes -= gone.bytes;
    controlBytes -= gone.isControl() ? gone.bytes : 0;
    if (!gone.isControl()) {
      memory.release(gone.bytes);
      topics.computeIfPresent(gone.topic, (t, n) -> n == 1 ? null : n - 1);
    }
  }

  private void drop(Kept victim, GapReason reason) {
    forget(victim);
    gaps.add(victim.topic, victim.producer, victim.sequence, victim.sequence, reason);
  }

  /** Removes and returns the oldest event. */
  @Nullable Kept poll() {
    Iterator<Kept> oldest = kept.values().iterator();
    if (!oldest.hasNext()) {
      return null;
    }
    Kept next = oldest.next();
    oldest.remove();
    forget(next);
    return next;
  }

  /**
   * Returns what was dropped; told before the next event of the same topic and producer, or when
   * nothing is kept any more.
   */
  GapLedger gaps() {
    return gaps;
  }

  boolean isEmpty() {
    return kept.isEmpty();
  }

  long bytes() {
    return bytes;
  }

  /** Returns the bytes of the frames that hold no events. */
  long controlBytes() {
    return controlBytes;
  }

  int size() {
    return kept.size();
  }

  /** Returns the number of kept events. */
  int events() {
    int events = 0;
    for (Kept one : kept.values()) {
      events += one.isControl() ? 0 : 1;
    }
    return events;
  }

  void clear() {
    for (Kept one : kept.values()) {
      Delivery control = one.control;
      if (control != null) {
        control.release();
      } else {
        memory.release(one.bytes);
      }
    }
    kept.clear();
    topics.clear();
    bytes = 0;
    controlBytes = 0;
  }
}
