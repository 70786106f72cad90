package io.eventbus.server.transport;

import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.Delivery;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of deliveries with the policy of each; it grows by doubling. It counts bytes but does not
 * bound them. Confined to one loop.
 */
final class DeliveryRing {
  private static final int MIN = 8;
  private static final Object[] NOTHING = {};

  // Pairs: a delivery and its policy; null for a frame that must not be dropped.
  private @Nullable Object[] ring = NOTHING;
  private int head;
  private int size;
  private long bytes;
  private long droppableBytes;
  private long controlBytes;

  void add(Delivery delivery, @Nullable Overflow overflow) {
    if (size * 2 == ring.length) {
      grow();
    }
    int at = index(size);
    ring[at] = delivery;
    ring[at + 1] = overflow;
    size++;
    count(delivery, overflow, 1);
  }

  /** Puts a frame that must not be dropped, and is no answer, before all others. */
  void addFirst(Delivery delivery) {
    if (size * 2 == ring.length) {
      grow();
    }
    head = index(-1);
    ring[head] = delivery;
    ring[head + 1] = Overflow.BLOCK;
    size++;
    count(delivery, Overflow.BLOCK, 1);
  }

  private int index(int i) {
    return (head + 2 * i) & (ring.length - 1);
  }

  private void count(Delivery delivery, @Nullable Overflow overflow, int sign) {
    long n = (long) sign * delivery.size();
    bytes += n;
    if (overflow == Overflow.DROP_OLDEST) {
      droppableBytes += n;
    } else if (overflow == null) {
      controlBytes += n;
    }
  }

  private void grow() {
    @Nullable Object[] bigger = new Object[Math.max(2 * MIN, ring.length * 2)];
    for (int i = 0; i < size; i++) {
      bigger[2 * i] = ring[index(i)];
      bigger[2 * i + 1] = ring[index(i) + 1];
    }
    ring = bigger;
    head = 0;
  }

  Delivery get(int i) {
    return (Delivery) ring[index(i)];
  }

  private @Nullable Overflow overflow(int i) {
    return (Overflow) ring[index(i) + 1];
  }

  /** Removes the first; the caller gets its reference. */
  Delivery poll() {
    Delivery first = get(0);
    count(first, overflow(0), -1);
    ring[head] = null;
    ring[head + 1] = null;
    head = index(1);
    size--;
    return first;
  }

  /**
   * Removes the oldest that may be dropped until so many bytes are freed or none is left.
   *
   * @param victims gets each with its reference; must not touch this ring
   */
  void dropOldest(long toFree, Consumer<Delivery> victims) {
    if (droppableBytes == 0) {
      return;
    }
    long freed = 0;
    int end = 0;
    for (; freed < toFree && droppableBytes > 0; end++) {
      if (overflow(end) == Overflow.DROP_OLDEST) {
        Delivery victim = get(end);
        ring[index(end)] = null;
        count(victim, Overflow.DROP_OLDEST, -1);
        freed += victim.size();
        victims.accept(victim);
      }
    }
    closeUp(end);
  }

  /** Moves what is left of the first entries together, away from the head. */
  private void closeUp(int end) {
    int to = end;
    for (int i = end - 1; i >= 0; i--) {
      Object left = ring[index(i)];
      Object overflow = ring[index(i) + 1];
      ring[index(i)] = null;
      ring[index(i) + 1] = null;
      if (left != null) {
        to--;
        ring[index(to)] = left;
        ring[index(to) + 1] = overflow;
      }
    }
    head = index(to);
    size -= to;
  }

  void clear(Consumer<Delivery> each) {
    while (size > 0) {
      each.accept(poll());
    }
    Arrays.fill(ring, null);
    ring = NOTHING;
    head = 0;
  }

  /**
   * Gives back the room of an empty queue; not after every use, or it would be made again each
   * time.
   */
  void trim() {
    if (size == 0) {
      ring = NOTHING;
      head = 0;
    }
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  long bytes() {
    return bytes;
  }

  long controlBytes() {
    return controlBytes;
  }
}
