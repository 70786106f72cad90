package io.eventbus.server.balance;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How many moves may be under way: as many as the two buses and the clients carry out well within
 * their time. Each client that moves makes all others wait, those that move and those that do not;
 * without a bound, a slow machine has so many under way that none of them is done in time. With too
 * few it is slow, too: a move is many small steps, and on a busy machine each of them waits for its
 * turn. For one thread.
 *
 * <p>One more for each round of swift moves, half as many after a slow one, at most once for those
 * that were under way together (D.-M. Chiu and R. Jain, "Analysis of the Increase and Decrease
 * Algorithms for Congestion Avoidance in Computer Networks", 1989). A client that does not answer
 * does not keep the others from moving: after some times what a move takes it does not count.
 */
public final class MoveWindow {
  private static final double LEAST = 8;
  private static final double SHARE_AT_FIRST = 0.1;
  private static final double CUT = 0.5;

  /** Of the time that a move may take. */
  private static final double SWIFT = 0.1;

  private static final double SLOW = 0.25;
  private static final double SMOOTHING = 0.125;
  private static final double PATIENCE = 4;
  private static final double LEAST_PATIENCE_NANOS = Duration.ofSeconds(1).toNanos();
  private static final double MOST_PATIENCE_NANOS = Duration.ofSeconds(30).toNanos();

  private final double most;
  private final double swiftNanos;
  private final double slowNanos;
  private final Map<Long, Long> underWay = new LinkedHashMap<>();
  private double size;
  private double usualNanos;
  private boolean cut;
  private long cutNanos;

  /**
   * Makes one with nothing under way.
   *
   * @param perSecond moves that may begin in a second, more than 0
   * @param deadline how long a move may take
   */
  public MoveWindow(double perSecond, Duration deadline) {
    this.swiftNanos = deadline.toNanos() * SWIFT;
    this.slowNanos = deadline.toNanos() * SLOW;
    this.most = Math.max(LEAST, perSecond);
    this.size = Math.max(LEAST, perSecond * SHARE_AT_FIRST);
  }

  /**
   * Says how many more may begin.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return 0 or more
   */
  public int room(long nowNanos) {
    double patience =
        Math.max(LEAST_PATIENCE_NANOS, Math.min(MOST_PATIENCE_NANOS, PATIENCE * usualNanos));
    Iterator<Long> eldest = underWay.values().iterator();
    while (eldest.hasNext() && nowNanos - eldest.next() > patience) {
      eldest.remove();
    }
    return Math.max(0, (int) size - underWay.size());
  }

  /**
   * Notes that a client was asked.
   *
   * @param connection its number
   * @param nowNanos as {@link System#nanoTime}
   */
  public void begun(long connection, long nowNanos) {
    underWay.put(connection, nowNanos);
  }

  /**
   * Notes that a client has answered: it is gone, or stays.
   *
   * @param connection its number
   * @param begunNanos when it was asked
   * @param nowNanos as {@link System#nanoTime}
   */
  public void ended(long connection, long begunNanos, long nowNanos) {
    // Where there is room to spare, swift moves do not show that there could be more.
    boolean used = underWay.size() >= size / 2;
    underWay.remove(connection);
    double nanos = nowNanos - begunNanos;
    usualNanos += (nanos - usualNanos) * SMOOTHING;
    if (nanos > slowNanos) {
      if (!cut || begunNanos - cutNanos >= 0) {
        cut = true;
        cutNanos = nowNanos;
        size = Math.max(LEAST, size * CUT);
      }
    } else if (nanos <= swiftNanos && used) {
      size = Math.min(most, size + 1 / size);
    }
  }
}
