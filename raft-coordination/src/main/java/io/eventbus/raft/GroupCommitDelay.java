package io.eventbus.raft;

/**
 * Delay of the next log entry for the callers that were just answered: group commit (cf.
 * PostgreSQL's {@code commit_delay}).
 *
 * <p>An entry costs every voter tens of changes of threads, however many commands it has. Callers
 * that wait for each answer before they send the next command fall apart into groups if an entry
 * leaves as soon as the last one is finished: one group is under way while the other one waits. So
 * the entry waits until about as many commands have come as were answered, at most as long as an
 * entry takes.
 *
 * <p>The callers are not known here, only how many commands come and when. Callers that come back
 * are all there early; commands that arrive independently of any answer come evenly, too few of
 * them while an entry waits, or late. Each wait that gained no entry lets more of the next entries
 * go without one: one after the first, then two, and so on, doubled up to 64. A caller that is
 * alone never waits.
 *
 * <p>Not safe for use by several threads.
 */
final class GroupCommitDelay {
  /** Maximum delay, however slow the disk or the network: the loss of a lonely command. */
  static final long MAX_NANOS = 2_000_000;

  private static final int MAX_SKIPPED = 64;

  /** Smoothing with a weight of an eighth for the newest. */
  private static final int SMOOTHING = 3;

  /** Number of long waits that gained entries, which make up for one that gained none. */
  private static final int GOOD_WAITS_PER_FAULT = 8;

  private static final int MAX_FAULT =
      (Integer.numberOfTrailingZeros(MAX_SKIPPED) + 1) * GOOD_WAITS_PER_FAULT;

  private long entryNanos;
  private long finishedNanos;
  private long budgetNanos;
  private int expected;
  private int came;
  private boolean waited;
  private int fault;
  private int skip;

  /**
   * Records that an entry is finished; its commands are answered now.
   *
   * @param tookNanos its duration, in nanoseconds
   */
  void finished(int commands, long tookNanos, long nowNanos) {
    long took = Math.min(tookNanos, MAX_NANOS);
    entryNanos += (took - entryNanos) >> (entryNanos == 0 ? 0 : SMOOTHING);
    finishedNanos = nowNanos;
    budgetNanos = entryNanos;
    came = 0;
    waited = false;
    if (skip > 0) {
      skip--;
      expected = 0;
    } else {
      // Stragglers would cost all the others the whole time.
      expected = commands - commands / 8;
    }
  }

  /** Records that an entry has failed: its callers are not expected back soon. */
  void failed() {
    expected = 0;
  }

  /** Records that a command came. */
  void arrived() {
    came++;
  }

  /** Returns how long the next entry still waits, in nanoseconds; 0 if it is to go. */
  long remainingNanos(long nowNanos) {
    long left = came >= expected ? 0 : Math.max(0, budgetNanos - (nowNanos - finishedNanos));
    waited |= left > 0;
    return left;
  }

  /** Records that the next entry goes. */
  void gone(long nowNanos) {
    if (waited) {
      judge(nowNanos - finishedNanos);
    }
    waited = false;
    expected = 0;
  }

  private void judge(long waitedNanos) {
    if (came >= expected) {
      fault = waitedNanos <= budgetNanos / 2 ? 0 : Math.max(0, fault - 1);
    } else if (waitedNanos >= budgetNanos && came < expected - expected / 4) {
      fault = Math.min(fault + GOOD_WAITS_PER_FAULT, MAX_FAULT);
      skip = 1 << (fault / GOOD_WAITS_PER_FAULT - 1);
    }
  }
}
