package io.eventbus.raft;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Scheduler of the messages to a follower for which there is no entry: they show that the leader
 * lives, and what is committed. Any thread may call any method; it never waits.
 */
final class HeartbeatScheduler {
  /** Time by which a heartbeat may go early, so that no thread is woken twice for it. */
  private static final int EARLY_MILLIS = 5;

  /** Follower that it watches and sends to. */
  interface Follower {
    /**
     * Returns whether there are to be heartbeats; once it is false, {@link
     * HeartbeatScheduler#begin} begins anew.
     */
    boolean isActive();

    /** Returns the time until the next heartbeat is due, in milliseconds; at most 0 if it is. */
    long untilHeartbeatMillis();

    /** Returns the time since anything was sent, in milliseconds. */
    long silenceMillis();

    /** Returns whether it has not acknowledged yet what is committed. */
    boolean isBehindCommit();

    void heartbeat();
  }

  private final Follower follower;
  private final FollowerRpc timer;
  private final long periodMillis;
  private final Duration commitDelay;
  private final AtomicBoolean telling = new AtomicBoolean();
  private final AtomicBoolean active = new AtomicBoolean();

  /**
   * Creates a scheduler; it begins later.
   *
   * @param periodMillis the time between heartbeats, in milliseconds
   * @param commitDelay see {@link TransportSettings}
   */
  HeartbeatScheduler(
      Follower follower, FollowerRpc timer, long periodMillis, Duration commitDelay) {
    this.follower = follower;
    this.timer = timer;
    this.periodMillis = periodMillis;
    this.commitDelay = commitDelay;
  }

  /** Sends heartbeats from now on. */
  void begin() {
    if (follower.isActive() && active.compareAndSet(false, true)) {
      beatAfter(Math.max(0, follower.untilHeartbeatMillis()));
    }
  }

  private void beat() {
    boolean over = false;
    long next = periodMillis;
    try {
      over = !follower.isActive();
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
    active.set(false);
    // The follower may have become active again just now.
    begin();
  }

  private void beatAfter(long millis) {
    try {
      timer.after(Duration.ofMillis(millis), this::beat);
    } catch (RejectedExecutionException e) {
      active.set(false);
    }
  }

  /**
   * Ensures that the follower hears of what is committed, also if no entry comes that would tell
   * it. Ratis's own appender leaves that to the next heartbeat.
   */
  void tellCommit() {
    if (follower.isActive() && follower.isBehindCommit() && telling.compareAndSet(false, true)) {
      try {
        timer.after(commitDelay, this::tell);
      } catch (RejectedExecutionException e) {
        telling.set(false);
      }
    }
  }

  private void tell() {
    telling.set(false);
    if (!follower.isActive() || !follower.isBehindCommit()) {
      return;
    }
    if (follower.silenceMillis() < commitDelay.toMillis()) {
      // Entries are on their way, one after the other, and tell it.
      tellCommit();
    } else {
      follower.heartbeat();
    }
  }
}
