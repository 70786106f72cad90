package io.eventbus.journal.ratis;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Time of a shard as its leader gives it to entries: never before that of an earlier entry. A clock
 * that jumps ahead would make events too old at once, for good; so a jump of more than an hour that
 * the monotonic clock does not confirm is told and not followed, until the next start. Any thread.
 */
final class ShardClock {
  /** Maximum jump that is followed, in milliseconds. */
  static final long MAX_JUMP_MILLIS = TimeUnit.HOURS.toMillis(1);

  private static final Logger LOG = LoggerFactory.getLogger(ShardClock.class);

  private final LongSupplier wallMillis;
  private final LongSupplier nanoTime;
  private long last;
  private long wallBefore;
  private long nanosBefore;
  private boolean jumped;

  /**
   * Creates a clock that takes the wall clock of now as it is.
   *
   * @param last the stamp of the last entry that is known, in milliseconds
   */
  ShardClock(long last, LongSupplier wallMillis, LongSupplier nanoTime) {
    this.last = last;
    this.wallMillis = wallMillis;
    this.nanoTime = nanoTime;
    wallBefore = wallMillis.getAsLong();
    nanosBefore = nanoTime.getAsLong();
  }

  /** Returns the stamp of an entry that is made now, in milliseconds since the epoch. */
  synchronized long stamp() {
    long wall = wallMillis.getAsLong();
    long nanos = nanoTime.getAsLong();
    long passed = wallBefore + TimeUnit.NANOSECONDS.toMillis(nanos - nanosBefore);
    if (wall - Math.max(passed, last) > MAX_JUMP_MILLIS) {
      if (!jumped) {
        LOG.warn(
            "The wall clock has jumped ahead by {} ms; durable topics do not follow it until the"
                + " next start",
            wall - passed);
      }
      jumped = true;
      last = Math.max(last, passed);
      return last;
    }
    jumped = false;
    wallBefore = wall;
    nanosBefore = nanos;
    last = Math.max(last, wall);
    return last;
  }

  /** Takes note of the stamp of an entry. */
  synchronized void applied(long stamp) {
    last = Math.max(last, stamp);
  }
}
