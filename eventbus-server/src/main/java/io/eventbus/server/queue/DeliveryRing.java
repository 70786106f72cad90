package io.eventbus.server.queue;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Queue of deliveries, those of events with their policy; it grows by doubling. It counts bytes but
 * does not bound them. A dropped delivery leaves a hole until the queue is read again, so that
 * dropping takes the same time wherever it was. Confined to one loop.
 */
final class DeliveryRing {
  private static final int MIN_SLOTS = 8;

  /** Number of holes above which they are too many, if there are fewer deliveries. */
  private static final int MANY_HOLES = 64;

  /** Heap of a short queue, which is part of its connection. */
  private static final int SMALL_HEAP = 1024;

  private static final Object[] NOTHING = {};

  // Pairs: a delivery, and for events the policy.
  private @Nullable Object[] ring = NOTHING;
  private int head;
  private int size;
  // Deliveries and holes between them.
  private int span;
  // Number of leading entries known to be undroppable.
  private int kept;
  private long bytes;
  private long droppableBytes;
  private long controlBytes;
  private long invokesTaken;
  private long taken;
  private long feedBytes;

  /** Adds events. */
  void add(Delivery delivery, Overflow policy) {
    assert delivery.kind() == DeliveryKind.EVENTS : delivery;
    put(delivery, policy);
  }

  /** Adds a frame to which no policy applies. */
  void add(Delivery frame) {
    assert frame.kind() != DeliveryKind.EVENTS : frame;
    put(frame, null);
  }

  private void put(Delivery delivery, @Nullable Overflow policy) {
    makeRoom();
    int at = index(span);
    ring[at] = delivery;
    ring[at + 1] = policy;
    span++;
    size++;
    count(delivery, policy, 1);
  }

  /** Moves deliveries that may overtake the others to another queue, in its order. */
  void moveOvertaking(DeliveryRing to) {
    closeUp();
    for (int i = 0; i < span; i++) {
      int at = index(i);
      if (ring[at] instanceof Delivery frame && frame.kind().overtakes()) {
        ring[at] = null;
        size--;
        count(frame, null, -1);
        to.add(frame);
      }
    }
    closeUp();
  }

  /** Adds a frame to which no policy applies before all others. */
  void addFirst(Delivery frame) {
    makeRoom();
    head = index(-1);
    ring[head] = frame;
    ring[head + 1] = null;
    span++;
    kept++;
    size++;
    count(frame, null, 1);
  }

  private void makeRoom() {
    if (span * 2 == ring.length) {
      closeUp();
    }
    if (span * 2 == ring.length) {
      grow();
    }
  }

  private int index(int i) {
    return (head + 2 * i) & (ring.length - 1);
  }

  private void count(Delivery delivery, @Nullable Object policy, int sign) {
    long n = (long) sign * delivery.size();
    bytes += n;
    if (policy == Overflow.DROP_OLDEST) {
      droppableBytes += n;
    } else if (delivery.kind().isAnswer()) {
      controlBytes += n;
    } else if (delivery.kind() == DeliveryKind.FEED) {
      feedBytes += n;
    }
  }

  private void grow() {
    @Nullable Object[] bigger = new Object[Math.max(2 * MIN_SLOTS, ring.length * 2)];
    for (int i = 0; i < span; i++) {
      bigger[2 * i] = ring[index(i)];
      bigger[2 * i + 1] = ring[index(i) + 1];
    }
    ring = bigger;
    head = 0;
  }

  Delivery get(int i) {
    closeUp();
    return (Delivery) ring[index(i)];
  }

  /** Removes the first; the caller gets its reference. */
  Delivery poll() {
    Delivery first = get(0);
    count(first, ring[head + 1], -1);
    taken += first.kind() == DeliveryKind.FEED ? 0 : 1;
    if (first.kind() == DeliveryKind.INVOKE) {
      invokesTaken++;
    }
    ring[head] = null;
    size--;
    skipFirst();
    return first;
  }

  private void skipFirst() {
    ring[head + 1] = null;
    head = index(1);
    span--;
    kept = Math.max(0, kept - 1);
  }

  /**
   * Removes the oldest that may be dropped until so many bytes are freed or none is left.
   *
   * @param victims gets each with its reference; must not touch this ring
   */
  void dropOldest(long toFree, Consumer<Delivery> victims) {
    long freed = 0;
    while (freed < toFree && droppableBytes > 0) {
      int at = index(kept);
      kept++;
      if (ring[at + 1] == Overflow.DROP_OLDEST && ring[at] instanceof Delivery victim) {
        ring[at] = null;
        size--;
        count(victim, Overflow.DROP_OLDEST, -1);
        freed += victim.size();
        victims.accept(victim);
      }
    }
    while (span > 0 && ring[head] == null) {
      skipFirst();
    }
    if (span - size > Math.max(size, MANY_HOLES)) {
      closeUp();
    }
  }

  /** Closes the holes. */
  private void closeUp() {
    if (span == size) {
      return;
    }
    int to = 0;
    int keptThere = 0;
    for (int i = 0; i < span; i++) {
      int from = index(i);
      Object left = ring[from];
      Object overflow = ring[from + 1];
      ring[from] = null;
      ring[from + 1] = null;
      if (left != null) {
        ring[index(to)] = left;
        ring[index(to) + 1] = overflow;
        to++;
        keptThere += i < kept ? 1 : 0;
      }
    }
    span = to;
    kept = keptThere;
  }

  /** Returns the heap of the queue itself, if it is much. */
  long heapBytes() {
    long bytesOfRing = 16 + 4L * ring.length;
    return bytesOfRing > SMALL_HEAP ? bytesOfRing : 0;
  }

  void clear(Consumer<Delivery> each) {
    while (size > 0) {
      each.accept(poll());
    }
    reset();
  }

  private void reset() {
    ring = NOTHING;
    head = 0;
    span = 0;
    kept = 0;
  }

  /**
   * Releases the room of an empty queue; not after every use, or it would be created again each
   * time.
   */
  void trim() {
    if (size == 0) {
      reset();
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

  long feedBytes() {
    return feedBytes;
  }

  /** Returns how many were removed since the start, without those of feeds. */
  long taken() {
    return taken;
  }

  /** Returns how many calls for the client were removed since the start. */
  long invokesTaken() {
    return invokesTaken;
  }
}
