package io.eventbus.server.call.tunnel;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Tunnels of the frames that wait for one client, in order: a ring that grows by doubling, so that
 * a frame needs no object. Confined to one loop.
 */
final class WrittenOrder {
  private static final int MIN_CAPACITY = 8;

  private @Nullable TunnelHalf[] halves = new TunnelHalf[MIN_CAPACITY];
  private long[] ends = new long[MIN_CAPACITY];
  private int head;
  private int size;
  private long taken;

  void add(@Nullable TunnelHalf half, long end) {
    if (size == halves.length) {
      grow();
    }
    int at = (head + size) & (halves.length - 1);
    halves[at] = half;
    ends[at] = end;
    size++;
  }

  private void grow() {
    int length = halves.length;
    @Nullable TunnelHalf[] more = Arrays.copyOf(halves, 2 * length);
    long[] moreEnds = Arrays.copyOf(ends, 2 * length);
    // The part before the head goes after the rest.
    System.arraycopy(halves, 0, more, length, head);
    System.arraycopy(ends, 0, moreEnds, length, head);
    Arrays.fill(more, 0, head, null);
    halves = more;
    ends = moreEnds;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the tunnel of the first frame; null for a frame of no tunnel. */
  @Nullable TunnelHalf half() {
    return halves[head];
  }

  long end() {
    return ends[head];
  }

  void remove() {
    halves[head] = null;
    head = (head + 1) & (halves.length - 1);
    size--;
    taken++;
    if (size == 0 && halves.length > 32 * MIN_CAPACITY) {
      halves = new TunnelHalf[MIN_CAPACITY];
      ends = new long[MIN_CAPACITY];
      head = 0;
    }
  }

  /** Returns how many were removed since the start. */
  long taken() {
    return taken;
  }

  void clear() {
    halves = new TunnelHalf[MIN_CAPACITY];
    head = 0;
    size = 0;
  }
}
