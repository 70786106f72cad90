package io.eventbus.registry.ratis;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Says when a follower is to hear of its leader although there is no entry for it: to know that the
 * leader lives, and to know what is committed. Any thread may call any method; it never waits.
 */
final class Pulse {
  /**
   * After so long without a message, a follower is told what is committed: well below what anybody
   * notices, well above the time between entries under load.
   */
  static final Duration COMMIT_DELAY = Duration.ofMillis(10);

  /** A heartbeat may go a little early, so that nobody is woken twice for it. */
  private static final int EARLY_MILLIS = 5;

  /** What it looks at, and whom it asks. */
  interface Follower {
    /** Whether there is to be a pulse; once it is false, {@link Pulse#begin} begins anew. */
    boolean isBeating();

    /** How long until the next heartbeat is due, in milliseconds; at most 0 if it is. */
    long untilHeartbeatMillis();

    /** How long ago anything was sent, in milliseconds. */
    long silenceMillis();

    /** Whether it has not said yet that it knows what is committed. */
    boolean isBehindCommit();

    void heartbeat();
  }

  private final Follower follower;
  private final Replication timer;
  private final long periodMillis;
  private final AtomicBoolean telling = new AtomicBoolean();
  private final AtomicBoolean beating = new AtomicBoolean();

  /**
   * A pulse; it begins later.
   *
   * @param periodMillis the time between heartbeats, in milliseconds
   */
  Pulse(Follower follower, Replication timer, long periodMillis) {
    this.follower = follower;
    this.timer = timer;
    this.periodMillis = periodMillis;
  }

  /** Sees to heartbeats from now on. */
  void begin() {
    if (follower.isBeating() && beating.compareAndSet(false, true)) {
      beatAfter(Math.max(0, follower.untilHeartbeatMillis()));
    }
  }

  private void beat() {
    boolean over = false;
    long next = periodMillis;
    try {
      over = !follower.isBeating();
      if (!over) {
        long left = follower.untilHeartbeatMillis();
        if (left <= EARLY_MILLIS) {
          follower.heartbeat();
        } else {
          next = left;
        }
      }
    } finally {
      // Also after something was thrown: a leader without heartbeats is deposed.
      if (over) {
        rest();
      } else {
        beatAfter(next);
      }
    }
  }

  private void rest() {
    beating.set(false);
    // It may have become so again just now.
    begin();
  }

  private void beatAfter(long millis) {
    try {
      timer.after(Duration.ofMillis(millis), this::beat);
    } catch (RejectedExecutionException e) {
      beating.set(false);
    }
  }

  /**
   * Sees to it that the follower hears of what is committed, also if no entry comes that would tell
   * it. The engine's own appender leaves that to the next heartbeat.
   */
  void tellCommit() {
    if (follower.isBeating() && follower.isBehindCommit() && telling.compareAndSet(false, true)) {
      try {
        timer.after(COMMIT_DELAY, this::tell);
      } catch (RejectedExecutionException e) {
        telling.set(false);
      }
    }
  }

  private void tell() {
    telling.set(false);
    if (!follower.isBeating() || !follower.isBehindCommit()) {
      return;
    }
    if (follower.silenceMillis() < COMMIT_DELAY.toMillis()) {
      // Entries are on their way, one after the other, and tell it.
      tellCommit();
    } else {
      follower.heartbeat();
    }
  }
}
