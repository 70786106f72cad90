package io.eventbus.server.session;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Work that the clients of one loop may still cause in the current turn. A message can hold a great
 * many small frames, each for a great many subscribers; a client that finds the turn used up goes
 * on in a later one, so that frames, writes and deadlines of others come in between. Confined to
 * the loop.
 *
 * <p>A unit of work is about an eighth of a microsecond: frequent and cheap work is counted by the
 * piece, rare or expensive work by the clock.
 *
 * <p>A client that has caused little work lately does not wait for those that cause much: it goes
 * on although the turn is used up. The time for all such clients together is bounded, so that a
 * crowd of them cannot use all of it.
 */
public final class WorkBudget {
  /** Units of a turn: about a millisecond. */
  private static final int UNITS = 8192;

  /** Minimum units of a turn, when many clients wait for theirs. */
  private static final int MIN_UNITS = 512;

  /** Units that a client may cause in a window without waiting: an eighth of a millisecond. */
  private static final int LIGHT_UNITS = 1024;

  /** Units for all these clients together in a window: 30 ms of 100. */
  private static final int ALL_LIGHT_UNITS = 240 * 1024;

  /** Units for the upkeep of connections in a window, without deadlines: 20 ms of 100. */
  private static final int UPKEEP_UNITS = 160 * 1024;

  /**
   * Units for clients with new tokens in a window: 10 ms of 100. Separate from the upkeep, so that
   * no client delays the end of others whose tokens have expired or are revoked.
   */
  private static final int REVIEW_UNITS = 80 * 1024;

  private static final int NANOS_SHIFT = 7;

  /** Recent work of one client. Confined to its loop. */
  public static final class Share {
    private long window;
    private long units;

    /** Creates the share of a client without work. */
    public Share() {}
  }

  private final LongSupplier nanoTime;
  private long total;
  private long turnEnd = UNITS;
  private long window;
  private long lightUnits;
  private long upkeepUnits;
  private long reviewUnits;
  private @Nullable Share current;
  private long enteredAt;

  /** Creates an unused budget. */
  public WorkBudget() {
    this(System::nanoTime);
  }

  /**
   * Creates a budget with a given clock, for tests.
   *
   * @param nanoTime clock such as {@link System#nanoTime}
   */
  public WorkBudget(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Returns the start time of work that is counted by the clock. */
  public long now() {
    return nanoTime.getAsLong();
  }

  /** Counts units of work. */
  public void spend(int units) {
    total += units;
  }

  /** Counts work by its duration. */
  public void spendSince(long began) {
    total += (nanoTime.getAsLong() - began) >> NANOS_SHIFT;
  }

  /** Counts work by its duration, without the units already counted during it. */
  public long spendSince(long began, long noted) {
    long now = nanoTime.getAsLong();
    total = Math.max(total, noted + ((now - began) >> NANOS_SHIFT));
    return now;
  }

  /** Returns all units counted so far. */
  public long total() {
    return total;
  }

  /** Charges work to this client from now on. */
  public void enter(Share share) {
    current = share;
    enteredAt = total;
    renew(share);
  }

  private void renew(Share share) {
    if (share.window != window) {
      share.window = window;
      share.units = 0;
    }
  }

  /**
   * Charges work to a client, whichever is {@linkplain #enter entered}.
   *
   * @param nanos duration of the work
   */
  public void charge(Share share, long nanos) {
    long units = nanos >> NANOS_SHIFT;
    renew(share);
    share.units += units;
    total += units;
    // Not caused by the entered client.
    enteredAt += units;
  }

  /** Stops charging the client that was {@linkplain #enter entered}. */
  public void leave() {
    Share share = current;
    if (share == null) {
      return;
    }
    long units = total - enteredAt;
    if (share.units < LIGHT_UNITS) {
      lightUnits += units;
    }
    share.units += units;
    current = null;
  }

  /** Returns whether the {@linkplain #enter entered} client has to continue in another turn. */
  public boolean mustYield() {
    return isSpent() && !isLight();
  }

  private boolean isLight() {
    Share share = current;
    return share != null
        && lightUnits < ALL_LIGHT_UNITS
        && share.units + (total - enteredAt) < LIGHT_UNITS;
  }

  /** Returns whether the turn is used up; true until {@link #renew}. */
  public boolean isSpent() {
    return total >= turnEnd;
  }

  /** Starts a new turn. */
  public void renew() {
    turnEnd = total + UNITS;
  }

  /** Starts the turn of a client: the more clients wait, the shorter it is. */
  public void renew(int waiting) {
    turnEnd = total + Math.max(MIN_UNITS, UNITS / Math.max(1, waiting));
  }

  /**
   * Returns whether this window has time left for upkeep: work for which no client waits and that
   * thousands of connections can need at once, for instance because their tokens expire together.
   */
  public boolean hasUpkeepLeft() {
    return upkeepUnits < UPKEEP_UNITS;
  }

  /** Counts upkeep by its duration. */
  public void spendOnUpkeep(long began) {
    long units = (nanoTime.getAsLong() - began) >> NANOS_SHIFT;
    upkeepUnits += units;
    total += units;
  }

  /** Returns whether this window has time left to review subscriptions under new permissions. */
  public boolean hasReviewLeft() {
    return reviewUnits < REVIEW_UNITS;
  }

  /** Counts a review by its duration. */
  public void spendOnReview(long began) {
    long units = (nanoTime.getAsLong() - began) >> NANOS_SHIFT;
    reviewUnits += units;
    total += units;
  }

  /** Starts a new window, ten of them in a second: earlier work no longer counts. */
  public void nextWindow() {
    window++;
    lightUnits = 0;
    upkeepUnits = 0;
    reviewUnits = 0;
  }
}
