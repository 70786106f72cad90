package io.eventbus.server.session;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How much work the clients of one loop may still cause in this turn of it. One message can hold a
 * great many small frames, each for a great many subscribers; a client that finds the turn used up
 * goes on in a later one, so that the others' frames, writes and deadlines come in between.
 * Confined to the loop.
 *
 * <p>Work is counted in units of about an eighth of a microsecond: what is frequent and cheap is
 * counted by the piece, what is rare or may be expensive by the clock.
 *
 * <p>A client that has caused little work lately does not wait for those that cause much: it goes
 * on although the turn is used up. All such clients together may take a part of the time in this
 * way, so that a crowd of them cannot take all of it.
 */
public final class WorkBudget {
  /** A turn: a millisecond or so. */
  private static final int UNITS = 8192;

  /** The shortest turn, when many clients wait for theirs. */
  private static final int MIN_UNITS = 512;

  /** What a client may cause in a window without being made to wait: an eighth of a millisecond. */
  private static final int LIGHT_UNITS = 1024;

  /** What all these clients together may cause in a window: 30 ms of 100. */
  private static final int ALL_LIGHT_UNITS = 240 * 1024;

  /** What looking after connections may cost in a window, beside deadlines: 20 ms of 100. */
  private static final int UPKEEP_UNITS = 160 * 1024;

  /**
   * What clients with new tokens may cause in a window: 10 ms of 100. It is not part of the upkeep,
   * so that no client holds up the end of others whose tokens have expired or are revoked.
   */
  private static final int REVIEW_UNITS = 80 * 1024;

  private static final int NANOS_SHIFT = 7;

  /** What one client has caused lately. Confined to its loop. */
  public static final class Share {
    private long window;
    private long units;

    /** Makes the share of a client that has caused nothing. */
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

  /** Makes a budget that is not used yet. */
  public WorkBudget() {
    this(System::nanoTime);
  }

  /**
   * Makes a budget with a clock of its own, as tests do.
   *
   * @param nanoTime as {@link System#nanoTime}
   */
  public WorkBudget(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Begins work that is counted by the clock. */
  public long now() {
    return nanoTime.getAsLong();
  }

  /** Notes work. */
  public void spend(int units) {
    total += units;
  }

  /** Notes work by the time that it took. */
  public void spendSince(long began) {
    total += (nanoTime.getAsLong() - began) >> NANOS_SHIFT;
  }

  /** Notes work by the time that it took, but for what was noted meanwhile already. */
  public long spendSince(long began, long noted) {
    long now = nanoTime.getAsLong();
    total = Math.max(total, noted + ((now - began) >> NANOS_SHIFT));
    return now;
  }

  /** Returns all work that was noted. */
  public long total() {
    return total;
  }

  /**
   * From now on work is caused by this client.
   *
   * @param share the client's
   */
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
   * Notes work that a client has caused, whoever is {@linkplain #enter entered} now.
   *
   * @param share the client's
   * @param nanos how long it took
   */
  public void charge(Share share, long nanos) {
    long units = nanos >> NANOS_SHIFT;
    renew(share);
    share.units += units;
    total += units;
    // Not by the client that is entered.
    enteredAt += units;
  }

  /** What comes now is not caused by the client that was {@linkplain #enter entered}. */
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

  /**
   * Says whether the client that was {@linkplain #enter entered} has to let others go first.
   *
   * @return true if it has to go on in another turn
   */
  public boolean mustYield() {
    return isSpent() && !isLight();
  }

  private boolean isLight() {
    Share share = current;
    return share != null
        && lightUnits < ALL_LIGHT_UNITS
        && share.units + (total - enteredAt) < LIGHT_UNITS;
  }

  /**
   * Says whether the turn is used up.
   *
   * @return true until {@link #renew}
   */
  public boolean isSpent() {
    return total >= turnEnd;
  }

  /** A new turn begins. */
  public void renew() {
    turnEnd = total + UNITS;
  }

  /** The turn of one of several clients begins, which is the shorter the more of them wait. */
  public void renew(int waiting) {
    turnEnd = total + Math.max(MIN_UNITS, UNITS / Math.max(1, waiting));
  }

  /**
   * Says whether there may be more work in this window that no client waits for and that thousands
   * of connections can need at once, because their tokens expire together for instance.
   *
   * @return false if the rest has to be left for the next window
   */
  public boolean hasUpkeepLeft() {
    return upkeepUnits < UPKEEP_UNITS;
  }

  /** Notes such work by the time that it took. */
  public void spendOnUpkeep(long began) {
    long units = (nanoTime.getAsLong() - began) >> NANOS_SHIFT;
    upkeepUnits += units;
    total += units;
  }

  /**
   * Says whether more subscriptions may be held against new permissions in this window.
   *
   * @return false if the rest has to be left for the next window
   */
  public boolean hasReviewLeft() {
    return reviewUnits < REVIEW_UNITS;
  }

  /** Notes such work by the time that it took. */
  public void spendOnReview(long began) {
    long units = (nanoTime.getAsLong() - began) >> NANOS_SHIFT;
    reviewUnits += units;
    total += units;
  }

  /** A new window begins, ten of them in a second: what was caused before no longer counts. */
  public void nextWindow() {
    window++;
    lightUnits = 0;
    upkeepUnits = 0;
    reviewUnits = 0;
  }
}
