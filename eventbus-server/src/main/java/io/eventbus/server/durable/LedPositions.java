package io.eventbus.server.durable;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Positions of a journal at its end, and whether this bus led the shard when they were written: it
 * then chooses the members of groups. Any thread.
 */
final class LedPositions {
  /** Maximum of changes between leading and not leading that are kept, 48 bytes each. */
  static final int MAX_RANGES = 1_000;

  /** Range of positions, from behind the one before it. */
  private record Range(long to, boolean led) {}

  private final Deque<Range> ranges = new ArrayDeque<>();
  private long end;

  /**
   * Adds the positions up to one. Those that were added before stay what they are: a chunk that is
   * written anew after a purge was written in another term.
   *
   * @return false if they should be led and are not, because there are too many changes
   */
  synchronized boolean add(long to, boolean led) {
    if (to <= end) {
      return true;
    }
    end = to;
    Range last = ranges.peekLast();
    boolean same = last != null && last.led == led;
    boolean room = same || !led || ranges.size() < MAX_RANGES;
    if (last != null && (same || !room)) {
      ranges.removeLast();
    }
    ranges.addLast(new Range(to, led && room));
    return room;
  }

  /**
   * Returns whether this bus led at a position that was added, and forgets those before it.
   *
   * @param position no less than in the last call
   */
  synchronized boolean isLed(long position) {
    while (ranges.size() > 1 && ranges.getFirst().to < position) {
      ranges.removeFirst();
    }
    return ranges.getFirst().led;
  }

  /** Returns the last position that was added; 0 for none. */
  synchronized long end() {
    return end;
  }
}
