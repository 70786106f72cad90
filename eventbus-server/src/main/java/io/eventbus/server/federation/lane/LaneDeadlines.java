package io.eventbus.server.federation.lane;

import java.util.ArrayList;
import java.util.List;
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

  /** Maximum interval of checks. */
  private static final long MAX_TICK_NANOS = TimeUnit.SECONDS.toNanos(1);

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
    boolean quiet = true;
    List<StreamEndpoint> ends = new ArrayList<>();
    for (Peer peer : loop.peers().all()) {
      Lane lane = peer.lane(loop.number());
      check(lane, now);
      quiet &= lane.isUp() && !lane.isHolding();
      LaneSender open = lane.connection();
      if (open != null) {
        ends.add(open);
      }
    }
    for (LaneReceiver receiver : loop.receivers()) {
      check(receiver, now);
      quiet &= !receiver.isHeld();
      ends.add(receiver);
    }
    if (loop.number() == 0) {
      DeadlineScheduler others = loop.otherDeadlines();
      check(others, now);
      quiet &= !others.areDueSoon();
    }
    AttachedStreams streams = loop.others();
    if (streams != null) {
      check(streams, now);
      quiet &= !streams.areDueSoon();
      ends.addAll(streams.ends());
    }
    long next = sendKeepalive(ends, now);
    return quiet ? next : 0;
  }

  private static void check(Lane lane, long now) {
    try {
      lane.onTick(now);
    } catch (RuntimeException | Error e) {
      LaneLoop.failed("lane " + lane.number() + " to " + lane.peer() + " could not be checked", e);
      lane.fail();
    }
  }

  private static void check(LaneReceiver receiver, long now) {
    try {
      receiver.onTick(now);
    } catch (RuntimeException | Error e) {
      LaneLoop.failed("a lane of bus " + receiver.linkPeer().bus() + " could not be checked", e);
      receiver.close();
    }
  }

  private static void check(AttachedStreams streams, long now) {
    try {
      streams.onTick(now);
    } catch (RuntimeException | Error e) {
      LOG.error("the deadlines of streams could not be checked", e);
    }
  }

  private static void check(DeadlineScheduler others, long now) {
    try {
      others.onTick(now);
    } catch (RuntimeException | Error e) {
      LOG.error("the deadlines of promises could not be checked", e);
    }
  }

  private static void sendKeepalive(StreamEndpoint end) {
    try {
      end.sendKeepalive();
    } catch (RuntimeException | Error e) {
      LaneLoop.failed("a keepalive could not be sent", e);
      end.close();
    }
  }

  /** Sends due keepalives; returns the time until the next one. */
  private static long sendKeepalive(List<StreamEndpoint> ends, long now) {
    boolean due = ends.stream().anyMatch(end -> end.keepalive().untilDue(now) <= 0);
    long next = MAX_TICK_NANOS;
    for (StreamEndpoint end : ends) {
      Keepalive keepalive = end.keepalive();
      if (due && keepalive.isNearlyDue(now) && !keepalive.isSilent(now)) {
        sendKeepalive(end);
      }
      next = Math.min(next, Math.min(keepalive.untilDue(now), keepalive.untilSilent(now)));
    }
    return next;
  }
}
