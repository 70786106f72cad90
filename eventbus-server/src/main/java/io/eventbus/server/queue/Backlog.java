package io.eventbus.server.queue;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryKind;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Backlog of one client: the queue itself, the events kept aside under CONFLATE, and the gaps that
 * are not told yet. It knows how each policy makes room; {@link OutboundQueue} decides whether it
 * holds too much. Confined to the loop.
 */
final class Backlog {
  private final QueueContext context;
  private final LastEvents lastEvents;
  private final DeliveryRing ring = new DeliveryRing();
  private final long max;
  private long bound;

  // Made when first needed: most clients are never too slow.
  private @Nullable QueueGaps gaps;
  private @Nullable Conflater conflater;
  private @Nullable DeliveryAllocator own;

  // Created with the client's first credit or call: frames that need not wait for events.
  private @Nullable DeliveryRing overtaking;
  private boolean answersOvertake;

  // Created with the first stream or tunnel, together with the turns of its frames and events.
  private @Nullable DeliveryRing bulk;
  private long turnBytes;
  private boolean bulksTurn;

  /**
   * Creates an empty backlog.
   *
   * @param bound bytes that the queue should hold at most, and again as many aside
   */
  Backlog(QueueContext context, long bound) {
    this.context = context;
    this.lastEvents = context.lastEvents();
    this.max = bound;
    this.bound = bound;
  }

  /** Returns the allocator of deliveries that wait for this client only. */
  DeliveryAllocator own() {
    DeliveryAllocator made = own;
    if (made == null) {
      made = DeliveryAllocator.forOne(context.allocator(), context.memory());
      own = made;
    }
    return made;
  }

  DeliveryRing ring() {
    return ring;
  }

  /** Changes how many bytes the queue should hold at most; its content stays. */
  void bound(long bytes) {
    bound = bytes;
    if (conflater != null) {
      conflater.limit(bytes);
    }
  }

  long bound() {
    return bound;
  }

  /**
   * Returns whether a delivery fits. An empty queue always accepts one delivery, whatever the
   * quota.
   */
  boolean fits(Delivery delivery) {
    return fits(delivery, bound);
  }

  private boolean fits(Delivery delivery, long room) {
    return ring.bytes() + delivery.size() <= (ring.isEmpty() ? max : room);
  }

  /** Returns all bytes, in the queue and aside. */
  long bytes() {
    Conflater c = conflater;
    return ring.bytes() + bytes(overtaking) + bytes(bulk) + (c == null ? 0 : c.bytes());
  }

  private static long bytes(@Nullable DeliveryRing other) {
    return other == null ? 0 : other.bytes();
  }

  /** Returns the heap of the queues themselves, if it is much. */
  long heapBytes() {
    return ring.heapBytes() + heapBytes(overtaking) + heapBytes(bulk);
  }

  private static long heapBytes(@Nullable DeliveryRing other) {
    return other == null ? 0 : other.heapBytes();
  }

  /** Returns the number of ranges that wait to be told. */
  int gapCount() {
    QueueGaps g = gaps;
    Conflater c = conflater;
    return (g == null ? 0 : g.size()) + (c == null ? 0 : c.gaps().size());
  }

  boolean isEmpty() {
    DeliveryRing a = overtaking;
    Conflater c = conflater;
    return ring.isEmpty()
        && (a == null || a.isEmpty())
        && (bulk == null || bulk.isEmpty())
        && (c == null || c.isEmpty())
        && gapCount() == 0;
  }

  void add(Delivery delivery, Overflow overflow) {
    if (gaps != null) {
      // Also before an event under another policy: it may be of the same topic and producer.
      gaps.tellBehind(ring);
    }
    delivery.retain();
    ring.add(delivery, overflow);
  }

  /** Adds a frame to which no policy applies; takes over the caller's reference. */
  void addFrame(Delivery frame) {
    Conflater c = conflater;
    DeliveryKind kind = frame.kind();
    if (kind == DeliveryKind.BULK || kind == DeliveryKind.FEED) {
      DeliveryRing made = bulk;
      if (made == null) {
        made = new DeliveryRing();
        bulk = made;
      }
      made.add(frame);
    } else if (kind.alwaysOvertakes() || (answersOvertake && kind.overtakes())) {
      overtaking().add(frame);
    } else if (frame.kind() == DeliveryKind.MARKER && c != null && !c.isEmpty()) {
      c.addControl(frame);
    } else {
      ring.add(frame);
    }
  }

  /** Lets answers overtake events from now on, also those that wait already. */
  void letAnswersOvertake() {
    if (!answersOvertake) {
      answersOvertake = true;
      ring.moveOvertaking(overtaking());
    }
  }

  private DeliveryRing overtaking() {
    DeliveryRing made = overtaking;
    if (made == null) {
      made = new DeliveryRing();
      overtaking = made;
    }
    return made;
  }

  /** Returns how many calls for the client were removed for writing since the start. */
  long invokesWritten() {
    DeliveryRing a = overtaking;
    return a == null ? 0 : a.invokesTaken();
  }

  /** Returns how many frames of streams and tunnels were removed for writing since the start. */
  long bulkWritten() {
    DeliveryRing b = bulk;
    return b == null ? 0 : b.taken();
  }

  /** Returns the bytes of stored events for consumers, and of what comes in their order. */
  long feedBytes() {
    DeliveryRing b = bulk;
    return b == null ? 0 : b.feedBytes();
  }

  /** Returns the bytes of all that overtakes events. */
  long overtakingBytes() {
    DeliveryRing a = overtaking;
    return a == null ? 0 : a.bytes();
  }

  /** Returns the bytes of the answers that overtake events. */
  long answerBytes() {
    DeliveryRing a = overtaking;
    return a == null ? 0 : a.controlBytes();
  }

  /**
   * Returns the bytes of the answers that keep their place among events, and of those kept aside.
   */
  long controlBytes() {
    Conflater c = conflater;
    return ring.controlBytes() + (c == null ? 0 : c.controlBytes());
  }

  /**
   * Adds a delivery and drops the oldest that may be dropped to make room; returns how many events
   * were lost. Where the bound has fallen far below what waits, the queue shrinks little by little,
   * by as much as is added: thousands of queues that shrink at once would stop the loop for
   * seconds.
   */
  int addDropping(Delivery delivery) {
    Drops drops = new Drops();
    if (!fits(delivery)) {
      long room = Math.max(bound, ring.bytes() - delivery.size());
      ring.dropOldest(ring.bytes() + delivery.size() - room, victim -> drops.drop(victim, true));
      if (!fits(delivery, room)) {
        // The queued events are of subscriptions that lose nothing, so the new one is dropped.
        delivery.retain();
        drops.drop(delivery, false);
        return drops.events;
      }
    }
    add(delivery, Overflow.DROP_OLDEST);
    return drops.events;
  }

  private final class Drops {
    int events;

    void drop(Delivery victim, boolean oldest) {
      QueueGaps g = gaps;
      if (g == null) {
        g = new QueueGaps(context);
        gaps = g;
      }
      g.record(victim, oldest);
      events += victim.events();
      victim.release();
    }
  }

  /**
   * Returns whether a delivery under CONFLATE cannot go straight into the queue, because it does
   * not fit or would overtake kept events or untold gaps.
   */
  boolean needsConflation(Delivery delivery) {
    Conflater c = conflater;
    return !fits(delivery) || (c != null && !(c.isEmpty() && c.gaps().isEmpty()));
  }

  /** Keeps the last event of each key aside. */
  Conflater.Dropped addConflating(Delivery delivery) {
    Conflater c = conflater;
    if (c == null) {
      c = new Conflater(context.memory(), lastEvents, bound);
      conflater = c;
    }
    return c.add(delivery);
  }

  /**
   * Moves kept events before a delivery of another policy. A client that changed the policy of a
   * topic may still have events of it aside; these must not be overtaken. Each topic has one policy
   * at a time, so that this is rare and at most doubles the queue once.
   */
  void letConflatedGoFirst(Delivery delivery) {
    Conflater c = conflater;
    if (c != null && !c.isEmpty() && c.holds(QueueGaps.topic(delivery))) {
      moveConflated(c, Long.MAX_VALUE);
    }
  }

  /**
   * Moves kept events to the queue, each behind the gaps before it, until the queue has so many
   * bytes.
   */
  private void moveConflated(Conflater c, long upTo) {
    while (ring.bytes() < upTo) {
      Conflater.Kept next = c.poll();
      if (next == null) {
        QueueGaps.tell(context, ring, c.gaps().takeAll());
        return;
      }
      QueueGaps.tell(
          context, ring, c.gaps().takeBefore(next.topic(), next.producer(), next.sequence()));
      Delivery moved = next.delivery(own());
      if (next.isControl()) {
        ring.add(moved);
      } else {
        ring.add(moved, Overflow.CONFLATE);
      }
    }
  }

  /**
   * Moves what was kept aside into the queue when there is room; returns whether there is anything
   * to write.
   */
  boolean refill() {
    tellGaps();
    if (conflater != null) {
      moveConflated(conflater, QueueWriter.MAX_COALESCED);
    }
    return !ring.isEmpty();
  }

  /**
   * Returns the queue to write from, as {@link #refill}; null if there is nothing to write.
   *
   * @param mayDeliver whether events may be written; if not, events stay aside, so that they go on
   *     being conflated
   */
  @Nullable DeliveryRing next(boolean mayDeliver) {
    DeliveryRing a = overtaking;
    if (a != null && !a.isEmpty()) {
      return a;
    }
    DeliveryRing b = bulk;
    if (b == null || b.isEmpty()) {
      return events(mayDeliver);
    }
    DeliveryRing other = bulksTurn ? null : events(mayDeliver);
    return other == null ? b : other;
  }

  private @Nullable DeliveryRing events(boolean mayDeliver) {
    return (mayDeliver ? refill() : refillWithGaps()) ? ring : null;
  }

  /** Counts bytes of a queue that were written: it has its turn until they are enough. */
  void wrote(DeliveryRing of, long bytes) {
    if (of != ring && of != bulk) {
      return;
    }
    boolean ofBulk = of == bulk;
    turnBytes = ofBulk == bulksTurn ? turnBytes + bytes : bytes;
    bulksTurn = ofBulk;
    if (turnBytes >= QueueWriter.MAX_COALESCED) {
      bulksTurn = !ofBulk;
      turnBytes = 0;
    }
  }

  /**
   * Refills when no event may be written: all that precedes a Drained is told before it, also the
   * gaps. Returns whether there is anything to write.
   */
  private boolean refillWithGaps() {
    if (startsWithEvents()) {
      return false;
    }
    tellGaps();
    return !ring.isEmpty() && !startsWithEvents();
  }

  private void tellGaps() {
    if (gaps != null) {
      gaps.tellFront(ring);
      if (ring.isEmpty()) {
        gaps.tellBehind(ring);
      }
    }
  }

  private boolean startsWithEvents() {
    return !ring.isEmpty() && ring.get(0).kind() == DeliveryKind.EVENTS;
  }

  /** Releases unused room. */
  void trim() {
    ring.trim();
    if (own != null) {
      own.trim();
    }
    if (overtaking != null) {
      overtaking.trim();
    }
    if (bulk != null) {
      bulk.trim();
    }
  }

  /** Releases everything and tells how many events are lost with it. */
  void clear(IntConsumer lostEvents) {
    ring.clear(
        delivery -> {
          lostEvents.accept(delivery.events());
          delivery.release();
        });
    if (overtaking != null) {
      overtaking.clear(Delivery::release);
    }
    if (bulk != null) {
      bulk.clear(Delivery::release);
    }
    if (conflater != null) {
      lostEvents.accept(conflater.events());
      conflater.clear();
    }
    if (own != null) {
      own.close();
    }
  }
}
