package io.eventbus.server.federation.lane;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deadlines of the lanes of one loop: checked often while any are near, else when the next
 * keepalive is due. Confined to the loop.
 */
final class LaneDeadlines {
  private static final Logger LOG = LoggerFactory.getLogger(LaneDeadlines.class);

  /** Interval of checks while there are deadlines other than keepalives. */
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final LaneLoop loop;
  private @Nullable Future<?> ticker;
  private long nextTickAt;
  private boolean ended;

  LaneDeadlines(LaneLoop loop) {
    this.loop = loop;
  }

  void start() {
    tickIn(TICK_NANOS);
  }

  /** Schedules a check for a deadline that may come before the next tick. */
  void checkSoon() {
    if (nextTickAt - loop.nanoTime() > TICK_NANOS) {
      tickIn(TICK_NANOS);
    }
  }

  void end() {
    ended = true;
    Future<?> running = ticker;
    if (running != null) {
      running.cancel(false);
    }
  }

  private void tickIn(long nanos) {
    if (ended) {
      return;
    }
    Future<?> before = ticker;
    if (before != null) {
      before.cancel(false);
    }
    nextTickAt = loop.nanoTime() + nanos;
    ticker = loop.eventLoop().schedule(this::tick, nanos, TimeUnit.NANOSECONDS);
  }

  private void tick() {
    long next = TICK_NANOS;
    try {
      next = Math.max(next, check(loop.nanoTime()));
    } catch (RuntimeException | Error e) {
      LOG.error("the deadlines of the lanes could not be checked", e);
    } finally {
      // Without another tick no deadline would be checked any more.
      tickIn(next);
    }
  }

  /** Checks all deadlines; returns the time until the next check. */
  private long check(long now) {
    loop.check(now);
    boolean quiet = !loop.isDueSoon();
    for (Peer peer : loop.peers().all()) {
      Lane lane = peer.lane(loop.number());
      check(lane, now);
      quiet &= lane.isUp() && !lane.isHolding();
    }
    for (DeadlineScheduler others : loop.otherDeadlines()) {
      check(others, now);
      quiet &= !others.areDueSoon();
    }
    long next = loop.sendKeepalives(now);
    return quiet ? next : 0;
  }

  private void check(Lane lane, long now) {
    try {
      lane.onTick(now);
    } catch (RuntimeException | Error e) {
      loop.failed(lane, e);
      lane.fail();
    }
  }

  private static void check(DeadlineScheduler others, long now) {
    try {
      others.onTick(now);
    } catch (RuntimeException | Error e) {
      LOG.error("the deadlines of promises or calls could not be checked", e);
    }
  }
}
