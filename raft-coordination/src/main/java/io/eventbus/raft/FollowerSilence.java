package io.eventbus.raft;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs that a follower does not take the entries: at once, and as long as it does not at intervals
 * that double up to an hour, each time with how often it has failed since; and that it takes them
 * again. For a follower that fails and goes on all the time there is a line every ten seconds. Any
 * thread.
 */
final class FollowerSilence {
  static final long FIRST_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);
  static final long MAX_INTERVAL_NANOS = TimeUnit.HOURS.toNanos(1);

  private final Logger log;
  private final LongSupplier nanoTime;
  // Written under the lock; read without it after each answer, which is the usual case.
  private volatile long failures;
  private long sinceNanos;
  private long toldNanos;
  private long intervalNanos;

  /** Whether it was logged that it does not answer now. */
  private boolean told;

  private boolean everTold;

  /**
   * Makes one of a follower that has not failed yet.
   *
   * @param log where the lines go
   * @param nanoTime as {@link System#nanoTime}
   */
  FollowerSilence(Logger log, LongSupplier nanoTime) {
    this.log = log;
    this.nanoTime = nanoTime;
  }

  /**
   * A message was not answered.
   *
   * @param cause why not
   */
  void failed(@Nullable Object follower, Throwable cause) {
    log.debug("Bus {} did not answer", follower, cause);
    long since;
    long count;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      count = failures + 1;
      failures = count;
      if (count == 1) {
        sinceNanos = now;
        intervalNanos = FIRST_INTERVAL_NANOS;
        told = false;
      }
      if (everTold && now - toldNanos < intervalNanos) {
        return;
      }
      if (told) {
        intervalNanos = Math.min(2 * intervalNanos, MAX_INTERVAL_NANOS);
      }
      told = true;
      everTold = true;
      toldNanos = now;
      since = now - sinceNanos;
    }
    if (count == 1) {
      // It may be restarting.
      log.info("Bus {} does not take the registry's log: {}", follower, cause.toString());
    } else {
      log.warn(
          "Bus {} has not taken the registry's log for {} s ({} attempts), last: {}",
          follower,
          Duration.ofNanos(since).toSeconds(),
          count,
          cause.toString());
    }
  }

  /** The follower has taken what it was sent. */
  void answered(@Nullable Object follower) {
    if (failures == 0) {
      return;
    }
    long count;
    long since;
    boolean tell;
    synchronized (this) {
      count = failures;
      failures = 0;
      since = nanoTime.getAsLong() - sinceNanos;
      tell = count > 0 && told;
    }
    if (tell) {
      log.info(
          "Bus {} takes the registry's log again, after {} ms and {} attempts",
          follower,
          Duration.ofNanos(since).toMillis(),
          count);
    }
  }
}
