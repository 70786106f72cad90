package io.eventbus.server.balance.decision;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Window of moves in progress: as many as the two buses and the clients carry out well within their
 * time. Each client that moves makes all others wait, those that move and those that do not;
 * without a bound, a slow machine has so many in progress that none of them is done in time. With
 * too few it is slow, too: a move is many small steps, and on a busy machine each of them waits for
 * its turn, however few there are. For one thread.
 *
 * <p>Twice as many after each round until it is known how many are too many, as in TCP's slow
 * start; from then on some more for each round, and half as many after a move that took half of its
 * time, at most once for those that were in progress together (D.-M. Chiu and R. Jain, "Analysis of
 * the Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks", 1989). More
 * are of use only while moves are swift or take hardly longer than with few (L. Brakmo and L.
 * Peterson, "TCP Vegas", 1995): else they only wait for each other. A client that does not answer
 * does not keep the others from moving: after some times what a move takes it does not count.
 */
public final class MoveWindow {
  private static final double MIN_MOVES = 4;
  private static final double SHARE_AT_FIRST = 0.05;
  private static final double CUT = 0.5;

  /** Part of a move's deadline within which it is swift. */
  private static final double SWIFT = 0.1;

  private static final double SLOW = 0.5;

  /** Factor of the shortest duration up to which moves do not seem to wait for each other. */
  private static final double HARDLY_LONGER = 1.5;

  /**
   * Rate at which the shortest duration is forgotten in each round: the machine may do other things
   * by now.
   */
  private static final double FORGETTING = 0.01;

  /** Time without moves after which it is forgotten at once. */
  private static final long OTHER_TIMES_NANOS = Duration.ofSeconds(1).toNanos();

  private static final double UNKNOWN = Duration.ofDays(1).toNanos();

  private static final double SMOOTHING = 0.125;
  private static final double TIMEOUT_TIMES = 4;
  private static final double MIN_TIMEOUT_NANOS = Duration.ofSeconds(1).toNanos();
  private static final double MAX_TIMEOUT_NANOS = Duration.ofSeconds(30).toNanos();

  private final double first;
  private final double max;
  private final double swiftNanos;
  private final double slowNanos;
  private final Map<Long, Long> underWay = new LinkedHashMap<>();
  private double size;
  private double usualNanos;
  private double shortestNanos;
  private long lastNanos;
  private boolean measured;
  private boolean cut;
  private long cutNanos;

  /**
   * Creates an empty window.
   *
   * @param perSecond moves that may begin in a second, more than 0
   * @param deadline how long a move may take
   */
  public MoveWindow(double perSecond, Duration deadline) {
    this.swiftNanos = deadline.toNanos() * SWIFT;
    this.slowNanos = deadline.toNanos() * SLOW;
    this.max = Math.max(MIN_MOVES, perSecond);
    this.first = Math.max(MIN_MOVES, perSecond * SHARE_AT_FIRST);
    this.size = first;
    forget();
  }

  /** Forgets durations: until a move is done its duration here and now is not known. */
  private void forget() {
    shortestNanos = UNKNOWN;
    measured = false;
    usualNanos = slowNanos / TIMEOUT_TIMES;
    size = Math.min(size, first);
    cut = false;
  }

  /**
   * Returns how many more may begin.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public int room(long nowNanos) {
    double timeout =
        Math.max(MIN_TIMEOUT_NANOS, Math.min(MAX_TIMEOUT_NANOS, TIMEOUT_TIMES * usualNanos));
    Iterator<Long> eldest = underWay.values().iterator();
    if (!underWay.isEmpty() && lastNanos - underWay.values().iterator().next() < 0) {
      // No client has answered since: the durations of earlier moves are out of date.
      timeout = Math.max(timeout, slowNanos);
    }
    while (eldest.hasNext() && nowNanos - eldest.next() > timeout) {
      eldest.remove();
    }
    return Math.max(0, (int) size - underWay.size());
  }

  /**
   * Notes that a client was asked.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public void begun(long connection, long nowNanos) {
    if (underWay.isEmpty() && nowNanos - lastNanos > OTHER_TIMES_NANOS) {
      forget();
    }
    underWay.put(connection, nowNanos);
  }

  /**
   * Notes that a client stays. An immediate answer does not show how long moves take.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public void stayed(long connection, long askedNanos, long readNanos, long nowNanos) {
    if (nowNanos - readNanos > slowNanos) {
      ended(connection, askedNanos, readNanos, nowNanos);
    } else {
      underWay.remove(connection);
    }
  }

  /**
   * Notes that a client is gone.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public void ended(long connection, long askedNanos, long readNanos, long nowNanos) {
    // With room to spare, swift moves do not show that there could be more.
    boolean used = underWay.size() >= size / 2;
    underWay.remove(connection);
    double nanos = nowNanos - readNanos;
    // From the request on: clients that have not read it yet count, too.
    double all = nowNanos - askedNanos;
    usualNanos = measured ? usualNanos + (all - usualNanos) * SMOOTHING : all;
    measured = true;
    shortestNanos = Math.min(nanos, shortestNanos + (nanos - shortestNanos) * FORGETTING / size);
    lastNanos = nowNanos;
    if (nanos > slowNanos) {
      if (!cut || askedNanos - cutNanos >= 0) {
        cut = true;
        cutNanos = nowNanos;
        size = Math.max(MIN_MOVES, size * CUT);
        shortestNanos = UNKNOWN;
      }
    } else if (used && nanos <= Math.max(swiftNanos, shortestNanos * HARDLY_LONGER)) {
      size = Math.min(max, size + (cut ? 1 / Math.sqrt(size) : 1));
    }
  }
}
