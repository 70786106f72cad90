package io.eventbus.server.federation.lane;

import io.eventbus.server.delivery.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * Frames that a lane keeps until they are acknowledged, with their paths: a queue that grows by
 * doubling. Confined to one loop.
 */
final class LaneRing {
  private static final int SLOT = 4;
  private static final int MIN_CAPACITY = 16 * SLOT;

  // A delivery, its path, its token, and an empty slot: a power of two is cheap to wrap.
  private @Nullable Object[] ring = new Object[MIN_CAPACITY];
  private int head;
  private int size;
  private int relayed;

  int size() {
    return size;
  }

  /** Returns whether any of the frames is to be passed on to further buses. */
  boolean hasRelayed() {
    return relayed > 0;
  }

  private int index(int i) {
    return (head + SLOT * i) & (ring.length - 1);
  }

  void add(Delivery delivery, LanePath path, @Nullable FrameToken token) {
    if (size * SLOT == ring.length) {
      grow();
    }
    int at = index(size++);
    ring[at] = delivery;
    ring[at + 1] = path;
    ring[at + 2] = token;
    relayed += relayedFrames(path);
  }

  private static int relayedFrames(LanePath path) {
    return path.behind().isEmpty() ? 0 : 1;
  }

  private void grow() {
    @Nullable Object[] bigger = new Object[ring.length * 2];
    for (int i = 0; i < size; i++) {
      System.arraycopy(ring, index(i), bigger, SLOT * i, SLOT);
    }
    ring = bigger;
    head = 0;
  }

  Delivery delivery(int i) {
    return (Delivery) ring[index(i)];
  }

  LanePath path(int i) {
    return (LanePath) ring[index(i) + 1];
  }

  @Nullable FrameToken token(int i) {
    return (FrameToken) ring[index(i) + 2];
  }

  void clearToken(int i) {
    ring[index(i) + 2] = null;
  }

  void setPath(int i, LanePath path) {
    relayed += relayedFrames(path) - relayedFrames(path(i));
    ring[index(i) + 1] = path;
  }

  /** Removes the first frame; earlier readers keep their reference. */
  void removeFirst() {
    relayed -= relayedFrames(path(0));
    ring[head] = null;
    ring[head + 1] = null;
    ring[head + 2] = null;
    head = index(1);
    size--;
  }

  /** Shrinks an empty ring that has grown. */
  void trim() {
    if (size == 0 && ring.length > MIN_CAPACITY) {
      ring = new Object[MIN_CAPACITY];
      head = 0;
    }
  }
}
