package io.eventbus.server.federation.lane;

import io.eventbus.server.routing.Delivery;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The bypass of a bus that cannot be reached, for what it was to pass on. Confined to the loop of
 * its lane but for {@link #isOn}.
 *
 * <p>What goes through the bus again must not overtake what has gone past it. So a bypass counts
 * its frames that have not arrived. When the bus is back, what it is to pass on goes into its lane
 * again at once, but that lane writes nothing of it until the count is zero: one round trip,
 * however many frames come meanwhile. Where it takes longer, because a bus behind reads slowly, the
 * frames that are held back are sent past the bus after all, in order, and the end is tried again
 * later.
 */
final class Bypass {
  /** How long frames are held back at most for those that went another way. */
  static final long MAX_HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** When the end is tried again after that. */
  static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final LaneLoop loop;
  private final Lane lane;
  private final LaneRing ring;
  private volatile boolean on;
  private long underWay;
  private boolean holding;
  private long heldFrom;
  private long heldSince;
  private boolean paused;
  private long pausedSince;

  Bypass(LaneLoop loop, Lane lane, LaneRing ring) {
    this.loop = loop;
    this.lane = lane;
    this.ring = ring;
  }

  /** Whether those behind the other bus are reached by their own lanes; any thread. */
  boolean isOn() {
    return on;
  }

  /** Whether frames that the other bus is to pass on wait for those that went past it. */
  boolean isHolding() {
    return holding;
  }

  /** The last frame that may be written, of those up to this one. */
  long writable(long last) {
    return holding ? Math.min(last, heldFrom - 1) : last;
  }

  /** The other bus cannot be reached: from now on those behind it are, by their own lanes. */
  void begin() {
    on = true;
  }

  /** The other bus passes on again. */
  private void end(long next, long now) {
    on = false;
    paused = false;
    if (underWay > 0) {
      holding = true;
      heldFrom = next;
      heldSince = now;
      loop.lookSoon();
    }
  }

  /** The lane is up: looks whether the bypass can end. */
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

  /** Sends to those behind the other bus directly. */
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
   * The other bus cannot pass on what it was given: it is sent to those behind it directly, all
   * that is not acknowledged and in order. What reaches them twice, subscribers drop.
   */
  void resendDirectly() {
    on = true;
    holding = false;
    if (!ring.leadsOn()) {
      return;
    }
    for (int i = 0; i < ring.size(); i++) {
      LanePath path = ring.path(i);
      if (!path.behind().isEmpty()) {
        ring.setPath(i, path.alone());
        send(path, ring.delivery(i), ring.token(i));
      }
    }
  }

  /** Follows a frame that goes past the other bus. */
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
