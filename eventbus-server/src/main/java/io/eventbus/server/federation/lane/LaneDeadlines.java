package io.eventbus.server.federation.lane;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the deadlines of the lanes of one loop: often while there are any that are near, else
 * when the next heartbeat is due. Confined to the loop.
 */
final class LaneDeadlines {
  private static final Logger LOG = LoggerFactory.getLogger(LaneDeadlines.class);

  /** How often deadlines are looked at while there are any but those of heartbeats. */
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** How often they are looked at in any case. */
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

  /** There is a deadline that may come before the next tick. */
  void lookSoon() {
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
      next = Math.max(next, look(loop.nanoTime()));
    } catch (RuntimeException | Error e) {
      LOG.error("the deadlines of the lanes could not be checked", e);
    } finally {
      // Without another tick no deadline would hold any more.
      tickIn(next);
    }
  }

  /** Looks at all deadlines; returns for how long it need not be done again. */
  private long look(long now) {
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
      quiet &= !others.areNear();
    }
    AttachedStreams streams = loop.others();
    if (streams != null) {
      check(streams, now);
      quiet &= !streams.areNear();
      ends.addAll(streams.ends());
    }
    long next = showLife(ends, now);
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
      LaneLoop.failed("a lane of bus " + receiver.who().bus() + " could not be checked", e);
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

  private static void showLife(StreamEndpoint end) {
    try {
      end.showLife();
    } catch (RuntimeException | Error e) {
      LaneLoop.failed("a sign of life could not be sent", e);
      end.close();
    }
  }

  /** Says on the lanes where it is time that this bus lives; returns when it is next. */
  private static long showLife(List<StreamEndpoint> ends, long now) {
    boolean due = ends.stream().anyMatch(end -> end.signs().untilDue(now) <= 0);
    long next = MAX_TICK_NANOS;
    for (StreamEndpoint end : ends) {
      Keepalive signs = end.signs();
      if (due && signs.isNearlyDue(now) && !signs.isSilent(now)) {
        showLife(end);
      }
      next = Math.min(next, Math.min(signs.untilDue(now), signs.untilSilent(now)));
    }
    return next;
  }
}
