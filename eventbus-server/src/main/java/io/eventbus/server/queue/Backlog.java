package io.eventbus.server.queue;

import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.DeliveryAllocator;
import io.eventbus.server.session.LoopContext;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What one client has still to be sent: the queue itself, the events kept aside under CONFLATE, and
 * the gaps that are not told yet. It knows how each policy makes room; whether there is too much of
 * it is the {@link OutboundQueue}'s to judge. Confined to the loop.
 */
final class Backlog {
  private final LoopContext context;
  private final long bound;
  private final LastEvents lastEvents;
  private final DeliveryRing ring = new DeliveryRing();

  // Made when first needed: most clients are never too slow.
  private @Nullable QueueGaps gaps;
  private @Nullable Conflater conflater;
  private @Nullable DeliveryAllocator own;

  /**
   * Makes an empty backlog.
   *
   * @param context the loop's context
   * @param lastEvents the loop's
   * @param bound bytes that the queue should hold at most, and again as many aside
   */
  Backlog(LoopContext context, LastEvents lastEvents, long bound) {
    this.context = context;
    this.lastEvents = lastEvents;
    this.bound = bound;
  }

  /** Makes the deliveries that wait for this client only. */
  DeliveryAllocator own() {
    DeliveryAllocator made = own;
    if (made == null) {
      made = DeliveryAllocator.forOne(context.allocator(), context.bus().memory());
      own = made;
    }
    return made;
  }

  DeliveryRing ring() {
    return ring;
  }

  boolean fits(Delivery delivery) {
    return ring.bytes() + delivery.size() <= bound;
  }

  /** All bytes, in the queue and aside. */
  long bytes() {
    Conflater c = conflater;
    return ring.bytes() + (c == null ? 0 : c.bytes());
  }

  /** Ranges that wait to be told. */
  int gapCount() {
    QueueGaps g = gaps;
    Conflater c = conflater;
    return (g == null ? 0 : g.size()) + (c == null ? 0 : c.gaps().size());
  }

  boolean isEmpty() {
    Conflater c = conflater;
    return ring.isEmpty() && (c == null || c.isEmpty()) && gapCount() == 0;
  }

  void add(Delivery delivery, Overflow overflow) {
    if (gaps != null) {
      // Also before an event under another policy: it may be of the same topic and producer.
      gaps.tellBehind(ring);
    }
    delivery.retain();
    ring.add(delivery, overflow);
  }

  /** Bytes of answers and other frames that are never dropped. */
  long controlBytes() {
    Conflater c = conflater;
    return ring.controlBytes() + (c == null ? 0 : c.controlBytes());
  }

  /**
   * Adds a frame that is not a delivery behind all events, also those kept aside. Takes over the
   * caller's reference.
   */
  void addControlLast(Delivery frame) {
    Conflater c = conflater;
    if (c == null || c.isEmpty()) {
      ring.add(frame, null);
    } else {
      c.addControl(frame);
    }
  }

  /** Makes room by dropping the oldest that may be dropped; returns how many events were lost. */
  int addDropping(Delivery delivery) {
    Drops drops = new Drops();
    if (!fits(delivery)) {
      ring.dropOldest(ring.bytes() + delivery.size() - bound, victim -> drops.drop(victim, true));
      if (!fits(delivery)) {
        // What is queued belongs to subscriptions that lose nothing, so the new one goes.
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
   * Whether a delivery under CONFLATE cannot go straight into the queue, because it does not fit or
   * would overtake what is kept or what is to be told.
   */
  boolean needsConflation(Delivery delivery) {
    Conflater c = conflater;
    return !fits(delivery) || (c != null && !(c.isEmpty() && c.gaps().isEmpty()));
  }

  /** Keeps the last event of each key aside. */
  Conflater.Dropped addConflating(Delivery delivery) {
    Conflater c = conflater;
    if (c == null) {
      c = new Conflater(context.bus().memory(), lastEvents, bound);
      conflater = c;
    }
    return c.add(delivery);
  }

  /**
   * A client that changed the policy of a topic may still have events of it aside; these must not
   * be overtaken. Each topic has one policy at a time, so that this is rare and at most doubles the
   * queue once.
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
      ring.add(next.delivery(own()), next.isControl() ? null : Overflow.CONFLATE);
    }
  }

  /**
   * Brings what was kept aside into the queue when there is room; returns whether there is anything
   * to write.
   */
  boolean refill() {
    if (gaps != null) {
      gaps.tellFront(ring);
      if (ring.isEmpty()) {
        gaps.tellBehind(ring);
      }
    }
    if (conflater != null) {
      moveConflated(conflater, QueueWriter.MAX_COALESCED);
    }
    return !ring.isEmpty();
  }

  /** Gives back room that is not used. */
  void trim() {
    ring.trim();
    if (own != null) {
      own.trim();
    }
  }

  /** Frees everything and tells how many events are lost with it. */
  void clear(IntConsumer lostEvents) {
    ring.clear(
        delivery -> {
          lostEvents.accept(delivery.events());
          delivery.release();
        });
    if (conflater != null) {
      lostEvents.accept(conflater.events());
      conflater.clear();
    }
    if (own != null) {
      own.close();
    }
  }
}
