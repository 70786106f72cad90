package io.eventbus.server.balance.decision;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Clients that were asked to move lately, so that none is asked again too soon. Bounded: of too
 * many the eldest are forgotten. For one thread.
 */
public final class MoveHistory {
  /** Maximum of clients: more than a bus can ask within a cool-down. */
  static final int MAX_CLIENTS = 100_000;

  private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

  private final long coolDownNanos;
  private final int maxHops;
  private final Map<Long, Long> asked =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
          return size() > MAX_CLIENTS;
        }
      };

  /**
   * Creates an empty history.
   *
   * @param coolDown how long a client is left alone after a move
   * @param maxHops maximum of moves of one client within a minute, for whatever reason
   */
  public MoveHistory(Duration coolDown, int maxHops) {
    this.coolDownNanos = coolDown.toNanos();
    this.maxHops = maxHops;
  }

  /**
   * Notes that a client is asked to move.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public void asked(long producer, long nowNanos) {
    asked.remove(producer);
    asked.put(producer, nowNanos);
  }

  /**
   * Returns how often a client was moved lately.
   *
   * @param hops count in its token when it came, 0 for a client that came by itself
   * @param nowNanos as {@link System#nanoTime}
   */
  public static int hops(int hops, long arrivedNanos, long nowNanos) {
    return nowNanos - arrivedNanos < MINUTE_NANOS ? hops : 0;
  }

  /**
   * Returns whether a client may be asked to move.
   *
   * @param leaving whether the bus ends, so that only the bound on moves counts
   * @param nowNanos as {@link System#nanoTime}
   */
  public boolean isMovable(
      long producer, int hops, long arrivedNanos, boolean leaving, long nowNanos) {
    if (hops >= maxHops) {
      return false;
    }
    if (leaving) {
      return true;
    }
    Long last = asked.get(producer);
    boolean askedLately = last != null && nowNanos - last < coolDownNanos;
    boolean movedLately = hops > 0 && nowNanos - arrivedNanos < coolDownNanos;
    return !askedLately && !movedLately;
  }

  /**
   * Returns how many more moves a client may be asked for, 0 or more, for {@code ChangeBus.hops}.
   */
  public int left(int hops) {
    return Math.max(0, maxHops - hops);
  }
}
