package io.eventbus.server.federation.lane;

import io.eventbus.link.stream.ReliableStream;
import io.eventbus.server.delivery.Delivery;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Bypass of an unreachable relay: of a peer that was to pass frames on. Confined to the loop of its
 * lane except for {@link #isOn}.
 *
 * <p>Frames that use the relay again must not overtake frames that bypassed it. So a bypass counts
 * its frames that have not arrived. When the peer is back, frames that it is to pass on go into its
 * lane again at once, but that lane writes none of them until the count is zero: one round trip,
 * however many frames come meanwhile. If it takes longer, because a bus behind reads slowly, the
 * held frames bypass the peer after all, in order, and the end is tried again later.
 */
final class Bypass {
  /** Maximum time that frames are held for those that bypassed the peer. */
  static final long MAX_HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Pause before the end is tried again after that. */
  static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final LaneLoop loop;
  private final Lane lane;
  private final ReliableStream<LaneFrame> stream;
  private volatile boolean on;
  private long underWay;
  private boolean holding;
  private long heldFrom;
  private long heldSince;
  private boolean paused;
  private long pausedSince;

  Bypass(LaneLoop loop, Lane lane, ReliableStream<LaneFrame> stream) {
    this.loop = loop;
    this.lane = lane;
    this.stream = stream;
  }

  /** Returns whether buses behind the peer are reached by their own lanes; any thread. */
  boolean isOn() {
    return on;
  }

  /** Returns whether frames for the peer to pass on wait for those that bypassed it. */
  boolean isHolding() {
    return holding;
  }

  /** Returns the number of the last frame that may be sent. */
  long sendable() {
    return holding ? heldFrom - 1 : Long.MAX_VALUE;
  }

  /** Starts the bypass of an unreachable peer: buses behind it are reached by their own lanes. */
  void begin() {
    on = true;
  }

  /** Ends the bypass: the peer passes frames on again. */
  private void end(long next, long now) {
    on = false;
    paused = false;
    if (underWay > 0) {
      holding = true;
      heldFrom = next;
      heldSince = now;
      loop.checkSoon();
    }
  }

  /** Checks, when the lane is up, whether the bypass can end. */
  void onUp(long next, long now) {
    if (holding) {
      if (now - heldSince >= MAX_HOLD_NANOS) {
        resendDirectly();
        paused = true;
        pausedSince = now;
        lane.drainSoon();
      }
    } else if (on && (underWay == 0 || !paused || now - pausedSince >= PAUSE_NANOS)) {
      end(next, now);
    }
  }

  private void arrived() {
    underWay--;
    if (underWay == 0 && holding) {
      holding = false;
      lane.drainSoon();
    }
  }

  /** Sends a frame directly to the buses behind the peer. */
  void send(LanePath path, Delivery delivery, @Nullable FrameToken token) {
    if (token != null) {
      token.add(path.behind().size());
    }
    for (Peer target : path.behind()) {
      underWay++;
      LanePath direct = path.past(target, new Past(token));
      direct.offer(delivery, direct.overflow());
    }
  }

  /**
   * Sends all unacknowledged frames, in order, directly to the buses behind the peer, which cannot
   * pass them on. Subscribers drop duplicates.
   */
  void resendDirectly() {
    on = true;
    holding = false;
    if (lane.hasRelayed()) {
      stream.forEach(this::resendDirectly);
    }
  }

  private void resendDirectly(LaneFrame frame) {
    LanePath path = frame.path();
    if (!path.behind().isEmpty()) {
      lane.countRelayed(path, -1);
      frame.path(path.alone());
      send(path, frame.delivery(), frame.token());
    }
  }

  /** Token of a frame that bypasses the peer. */
  private final class Past implements FrameToken {
    private final @Nullable FrameToken token;

    Past(@Nullable FrameToken token) {
      this.token = token;
    }

    @Override
    public void add(int children) {
      throw new IllegalStateException("a frame that is not passed on");
    }

    @Override
    public void done(LaneLoop on) {
      arrived();
      FrameToken followed = token;
      if (followed != null) {
        followed.done(on);
      }
    }
  }
}
