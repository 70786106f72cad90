package io.eventbus.server.transport;

import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.schema.GapReason;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.Delivery;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The events that did not fit into a queue under CONFLATE: of each topic and key the last one.
 *
 * <p>A new event of a key takes the place of the old one and goes to the end, so that those that
 * are left are in the order in which they came. Events without a key share one place for their
 * topic. Confined to the subscriber's loop; bounded in bytes: when even the last events of all keys
 * are too many, the oldest go.
 */
final class Conflater {
  private record Key(String topic, @Nullable String key) {}

  /**
   * One event that is kept.
   *
   * @param delivery the event alone in a frame
   * @param topic its topic
   * @param producer its producer
   * @param sequence its sequence number
   */
  record Kept(Delivery delivery, String topic, long producer, long sequence) {
    /** Whether it is a frame that only waits for its turn, rather than an event. */
    boolean isControl() {
      return topic.isEmpty();
    }
  }

  // What was checked when it was published need not be measured against the limits again.
  private static final FrameLimits UNLIMITED =
      new FrameLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

  private final ByteBufAllocator allocator;
  private final BusMemory memory;
  private final GapLedger gaps = new GapLedger();
  private final long limit;
  private final Map<Key, Kept> kept = new LinkedHashMap<>();
  private final Map<String, Integer> topics = new HashMap<>();
  private long bytes;
  private long controls;

  Conflater(ByteBufAllocator allocator, BusMemory memory, long limit) {
    this.allocator = allocator;
    this.memory = memory;
    this.limit = limit;
  }

  /** What was dropped to take in a delivery. */
  record Dropped(int conflated, int overLimit) {}

  /** Takes in the events of a delivery one by one. */
  Dropped add(Delivery delivery) {
    ByteBuffer in = delivery.frame();
    FrameCursor frame = new FrameCursor().wrap(in, 0, in.limit());
    frame.next();
    DeliverView view = new DeliverView();
    view.read(in, frame.bodyStart(), frame.bodyEnd(), UNLIMITED);
    String topic = view.topic();
    int conflated = 0;
    for (EventCursor event = view.events(); event.next(); ) {
      Delivery single =
          Delivery.allocate(
              allocator, memory, Frames.singleDeliverSize(view, event), 1, delivery.bornNanos());
      Frames.writeSingleDeliver(single.writable(), in, view, event);
      single.finish();
      Kept now = new Kept(single, topic, view.producer(), view.sequence() + event.index());
      Key key = new Key(topic, event.key());
      Kept before = kept.remove(key);
      if (before != null) {
        drop(before, GapReason.CONFLATED);
        conflated++;
      }
      kept.put(key, now);
      topics.merge(topic, 1, Integer::sum);
      bytes += single.size();
    }
    return new Dropped(conflated, dropOldest());
  }

  /**
   * Keeps a frame that is not a delivery in its place behind the events that are kept; it is never
   * dropped. Takes over the caller's reference.
   */
  void addControl(Delivery frame) {
    // No event has an empty topic.
    kept.put(new Key("", Long.toString(controls++)), new Kept(frame, "", 0, 0));
    bytes += frame.size();
  }

  private int dropOldest() {
    int dropped = 0;
    Iterator<Kept> oldest = kept.values().iterator();
    while (bytes > limit && oldest.hasNext()) {
      Kept victim = oldest.next();
      if (!victim.isControl()) {
        oldest.remove();
        drop(victim, GapReason.QUEUE_FULL);
        dropped++;
      }
    }
    return dropped;
  }

  /** Whether events of a topic are kept: others of that topic must not overtake them. */
  boolean holds(String topic) {
    return topics.containsKey(topic);
  }

  private void forget(Kept gone) {
    bytes -= gone.delivery().size();
    topics.computeIfPresent(gone.topic(), (t, n) -> n == 1 ? null : n - 1);
  }

  private void drop(Kept victim, GapReason reason) {
    forget(victim);
    gaps.add(victim.topic(), victim.producer(), victim.sequence(), victim.sequence(), reason);
    victim.delivery().release();
  }

  /** Takes out the oldest event; the caller gets its reference. */
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
   * What was dropped; told before the next event of the same topic and producer, or when nothing is
   * kept any more.
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

  int size() {
    return kept.size();
  }

  /** The events among what is kept. */
  int events() {
    return kept.values().stream().mapToInt(k -> k.delivery().events()).sum();
  }

  void clear() {
    kept.values().forEach(k -> k.delivery().release());
    kept.clear();
    topics.clear();
    bytes = 0;
  }
}
