package io.eventbus.raft;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Log of a follower that does not accept the entries: at once, and as long as that lasts at
 * intervals that double up to an hour, each time with the number of failures since; and of the end
 * of that. For a follower that fails and goes on all the time there is a line every ten seconds.
 * Any thread.
 */
final class FollowerSilence {
  static final long FIRST_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);
  static final long MAX_INTERVAL_NANOS = TimeUnit.HOURS.toNanos(1);

  private final Logger log;
  private final String content;
  private final LongSupplier nanoTime;
  // Written under the lock; read without it after each answer, which is the usual case.
  private volatile long failures;
  private long sinceNanos;
  private long loggedNanos;
  private long intervalNanos;

  /** Set if its silence was logged. */
  private boolean logged;

  private boolean everLogged;

  /**
   * Creates the log of a follower that has not failed yet.
   *
   * @param log receives the lines
   * @param content name of what it does not accept, as "the registry's log"
   * @param nanoTime as {@link System#nanoTime}
   */
  FollowerSilence(Logger log, String content, LongSupplier nanoTime) {
    this.log = log;
    this.content = content;
    this.nanoTime = nanoTime;
  }

  /**
   * Counts a message that was not answered.
   *
   * @param cause the failure
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
        logged = false;
      }
      if (everLogged && now - loggedNanos < intervalNanos) {
        return;
      }
      if (logged) {
        intervalNanos = Math.min(2 * intervalNanos, MAX_INTERVAL_NANOS);
      }
      logged = true;
      everLogged = true;
      loggedNanos = now;
      since = now - sinceNanos;
    }
    if (count == 1) {
      // The bus may be restarting.
      log.info("Bus {} does not accept {}: {}", follower, content, cause.toString());
    } else {
      log.warn(
          "Bus {} has not accepted {} for {} s ({} attempts), last: {}",
          follower,
          content,
          Duration.ofNanos(since).toSeconds(),
          count,
          cause.toString());
    }
  }

  /** Takes note that the follower has accepted a message. */
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
      tell = count > 0 && logged;
    }
    if (tell) {
      log.info(
          "Bus {} accepts {} again, after {} ms and {} attempts",
          follower,
          content,
          Duration.ofNanos(since).toMillis(),
          count);
    }
  }
}
