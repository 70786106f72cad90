package io.eventbus.server.durable;

import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Events that a consumer has sent and that are not settled, as ranges of positions, each with its
 * attempt and its deadline. What was given back at its deadline is marked as late, so that its
 * settlement is told from one of positions that never were events. Confined to the loop.
 */
final class UnsettledEvents {
  /** Heap of a range, about. */
  static final int RANGE_BYTES = 128;

  /** Receiver of a part of a range. */
  interface Part {
    void take(long from, long to, int attempt);
  }

  private record Range(long to, int attempt, long deadline, boolean late) {
    int events(long from) {
      return (int) (to - from + 1);
    }
  }

  private final int maxRanges;
  private final NavigableMap<Long, Range> byFirst = new TreeMap<>();
  private int events;
  private long nextDeadline = Long.MAX_VALUE;

  /** Creates an empty set, which forgets what is late above a number of ranges. */
  UnsettledEvents(int maxRanges) {
    this.maxRanges = maxRanges;
  }

  /** Returns how many events are not settled, without those that are late. */
  int events() {
    return events;
  }

  /** Returns the number of ranges. */
  int ranges() {
    return byFirst.size();
  }

  /** Adds events that are sent now. */
  void add(long from, long to, int attempt, long deadline) {
    forget(from, to);
    byFirst.put(from, new Range(to, attempt, deadline, false));
    events += (int) (to - from + 1);
    nextDeadline = Math.min(nextDeadline, deadline);
    boolean more = true;
    while (byFirst.size() > maxRanges && more) {
      more = forgetOne();
    }
  }

  /** Removes what is late at positions that are sent again. */
  private void forget(long from, long to) {
    boolean unused = each(from, to, (first, last, range) -> {});
  }

  /** Removes a range that is late; returns false if there is none. */
  private boolean forgetOne() {
    Iterator<Range> all = byFirst.values().iterator();
    while (all.hasNext()) {
      if (all.next().late()) {
        all.remove();
        return true;
      }
    }
    return false;
  }

  private interface Cut {
    void take(long from, long to, Range range);
  }

  /** Removes all from one position to another; returns whether there was anything. */
  private boolean each(long from, long to, Cut cut) {
    Map.Entry<Long, Range> at = byFirst.floorEntry(from);
    if (at == null || at.getValue().to() < from) {
      at = byFirst.higherEntry(from);
    }
    boolean any = false;
    while (at != null && at.getKey() <= to) {
      any = true;
      long first = at.getKey();
      Range range = at.getValue();
      byFirst.remove(first);
      if (first < from) {
        byFirst.put(first, new Range(from - 1, range.attempt(), range.deadline(), range.late()));
      }
      if (range.to() > to) {
        byFirst.put(to + 1, range);
      }
      long start = Math.max(first, from);
      long end = Math.min(range.to(), to);
      if (!range.late()) {
        events -= (int) (end - start + 1);
      }
      cut.take(start, end, range);
      at = byFirst.higherEntry(end);
    }
    return any;
  }

  /**
   * Removes the events of an attempt.
   *
   * @param part gets what was there
   * @return false if some are late or of another attempt, or if there are none
   */
  boolean settle(long from, long to, int attempt, Part part) {
    boolean[] complete = {true};
    boolean any =
        each(
            from,
            to,
            (first, last, range) -> {
              if (range.attempt() != attempt) {
                put(first, last, range);
                complete[0] = false;
              } else if (range.late()) {
                complete[0] = false;
              } else {
                part.take(first, last, attempt);
              }
            });
    return any && complete[0];
  }

  /**
   * Sets another deadline.
   *
   * @return false if some are late or of another attempt, or if there are none
   */
  boolean extend(long from, long to, int attempt, long deadline) {
    boolean[] complete = {true};
    boolean any =
        each(
            from,
            to,
            (first, last, range) -> {
              if (range.late() || range.attempt() != attempt) {
                put(first, last, range);
                complete[0] = false;
              } else {
                put(first, last, new Range(last, attempt, deadline, false));
              }
            });
    nextDeadline = any ? Math.min(nextDeadline, deadline) : nextDeadline;
    return any && complete[0];
  }

  private void put(long from, long to, Range range) {
    byFirst.put(from, new Range(to, range.attempt(), range.deadline(), range.late()));
    if (!range.late()) {
      events += (int) (to - from + 1);
    }
  }

  /**
   * Marks those as late whose deadline is over.
   *
   * @param part gets them
   */
  void expire(long now, Part part) {
    if (nextDeadline == Long.MAX_VALUE || nextDeadline - now > 0) {
      return;
    }
    nextDeadline = Long.MAX_VALUE;
    for (Map.Entry<Long, Range> entry : byFirst.entrySet()) {
      Range range = entry.getValue();
      if (range.late()) {
        continue;
      }
      if (range.deadline() - now <= 0) {
        entry.setValue(new Range(range.to(), range.attempt(), range.deadline(), true));
        events -= range.events(entry.getKey());
        part.take(entry.getKey(), range.to(), range.attempt());
      } else {
        nextDeadline = Math.min(nextDeadline, range.deadline());
      }
    }
  }
}
