package io.eventbus.client.internal.inbound;

import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Index of waiting events that are the last of their topic and key, for a subscription under
 * CONFLATE: only those are delivered. Written by the connection's thread when events arrive, asked
 * by the consumer's. Holds one entry for each key that waits.
 */
final class LatestEvents {
  /**
   * Comparable, because publishers choose keys: a table in which all of them collide stays fast.
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

  /** Bytes that a waiting key takes here, beside its own. */
  private static final int ENTRY_BYTES = 160;

  private record Latest(long producer, long sequence) {}

  // Guarded by this.
  private final Map<Key, Latest> latest = new HashMap<>();
  // Used where events arrive, by one thread at a time.
  private final EventCursor arriving = new EventCursor();

  /**
   * Returns the bytes that the events of a frame may take here; they count for the buffer of the
   * subscription.
   */
  static long bytes(Inbound what) {
    return what instanceof InboundDelivery events
        ? (long) ENTRY_BYTES * (events.count - events.skip)
        : 0;
  }

  /** Adds events that will be in the queue. */
  synchronized void add(InboundDelivery delivery) {
    arriving.wrap(
        delivery.message, delivery.eventsStart, delivery.eventsEnd, FrameLimits.UNLIMITED);
    for (int i = 0; i < delivery.count; i++) {
      arriving.next();
      if (i >= delivery.skip) {
        latest.put(
            new Key(delivery.origin.topic.name, arriving.key()),
            new Latest(delivery.origin.producer, delivery.sequence + i));
      }
    }
  }

  /**
   * Counts an event as asked for, once; returns false if a later one of the same topic and key has
   * arrived.
   */
  synchronized boolean take(InboundDelivery delivery, EventCursor event) {
    if (!isLatest(delivery, event)) {
      return false;
    }
    latest.remove(new Key(delivery.origin.topic.name, event.key()));
    return true;
  }

  /**
   * Returns whether an event is the last of its topic and key, without counting it as asked for.
   */
  synchronized boolean isLatest(InboundDelivery delivery, EventCursor event) {
    Latest last = latest.get(new Key(delivery.origin.topic.name, event.key()));
    return last != null
        && last.producer == delivery.origin.producer
        && last.sequence == delivery.sequence + event.index();
  }

  /** Forgets events that nobody will ask for. */
  synchronized void forget(InboundDelivery delivery) {
    arriving.wrap(
        delivery.message, delivery.eventsStart, delivery.eventsEnd, FrameLimits.UNLIMITED);
    while (arriving.next()) {
      if (arriving.index() >= delivery.skip) {
        take(delivery, arriving);
      }
    }
  }

  /** Clears the index. */
  synchronized void clear() {
    latest.clear();
  }

  synchronized int size() {
    return latest.size();
  }
}
