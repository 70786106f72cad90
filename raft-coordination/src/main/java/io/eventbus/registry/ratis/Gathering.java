package io.eventbus.registry.ratis;

/**
 * Says how long the next log entry waits for those who were just answered.
 *
 * <p>An entry costs every voter tens of changes of threads, however many commands it has. Callers
 * that wait for each answer before they send the next command fall apart into groups if an entry
 * leaves as soon as the last one is finished: one group is under way while the other one waits. So
 * the entry waits until as many commands have come as were answered, at most as long as an entry
 * takes. Where the answered do not come back, waiting was in vain, and the next entries do without:
 * one after the first time in a row, two after the second, and so on, doubled up to 64. A single
 * caller never waits. The idea is that of a data base's commit delay.
 *
 * <p>Not safe for use by several threads.
 */
final class Gathering {
  /** However slow the disk or the network: what a lonely command may lose by this. */
  static final long MOST_NANOS = 2_000_000;

  /** The smallest share of those expected that makes it worth waiting for the next ones. */
  private static final int WORTH = 2;

  private static final int MOST_SKIPPED = 64;

  /** A weight of an eighth for the newest. */
  private static final int SMOOTHING = 3;

  private long entryNanos;
  private int expected;
  private int came;
  private long untilNanos;
  private int inVain;
  private int skip;

  /**
   * An entry is finished; its commands are answered now.
   *
   * @param commands how many it had
   * @param tookNanos how long it took, in nanoseconds
   * @param nowNanos the time
   */
  void finished(int commands, long tookNanos, long nowNanos) {
    entryNanos += (tookNanos - entryNanos) >> (entryNanos == 0 ? 0 : SMOOTHING);
    came = 0;
    if (skip > 0) {
      skip--;
      expected = 0;
    } else {
      // Stragglers would cost all the others the whole time.
      expected = commands - commands / 8;
    }
    untilNanos = nowNanos + Math.min(entryNanos, MOST_NANOS);
  }

  /** A command came. */
  void arrived() {
    came++;
  }

  /**
   * How long the next entry still waits, in nanoseconds; not above 0 if it is to go.
   *
   * @param nowNanos the time
   */
  long remainingNanos(long nowNanos) {
    return came >= expected ? 0 : untilNanos - nowNanos;
  }

  /** The next entry goes. */
  void gone() {
    if (expected == 0) {
      return;
    }
    if (came * WORTH < expected) {
      inVain = Math.min(inVain + 1, Integer.numberOfTrailingZeros(MOST_SKIPPED) + 1);
      skip = 1 << (inVain - 1);
    } else {
      inVain = 0;
    }
    expected = 0;
  }
}
