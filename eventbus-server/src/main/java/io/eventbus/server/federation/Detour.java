package io.eventbus.server.federation;

import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.Delivery;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The way around a bus that cannot be reached, for what it was to pass on. Confined to the loop of
 * its lane but for {@link #isOn}.
 */
final class Detour {
  private final LoopFederation loop;
  private final LaneRing ring;
  private volatile boolean on;

  Detour(LoopFederation loop, LaneRing ring) {
    this.loop = loop;
    this.ring = ring;
  }

  /** Whether those behind the other bus are reached by their own lanes; any thread. */
  boolean isOn() {
    return on;
  }

  /**
   * Says whether those behind the other bus are to be reached directly: from the moment that it is
   * cut off until nothing is on its way by any lane of this loop, because what goes through it
   * again must not overtake what has gone past it.
   */
  boolean isNeeded(boolean up) {
    if (!up) {
      on = true;
    } else if (on && loop.isIdle()) {
      on = false;
    }
    return on;
  }

  /** Sends to those behind the other bus directly. */
  void send(LanePath path, Delivery delivery, @Nullable RelayToken token) {
    if (token != null) {
      token.add(path.behind().size());
    }
    for (Peer target : path.behind()) {
      LanePath direct =
          LanePath.of(
              target.lane(loop.number()),
              path.hops(),
              true,
              path.groupsOf(target),
              List.of(),
              List.of(),
              token);
      direct.offer(delivery, Overflow.BLOCK);
    }
  }

  /**
   * The other bus cannot pass on what it was given: it is sent to those behind it directly, all
   * that is not acknowledged and in order. What reaches them twice, subscribers drop.
   */
  void takeOver() {
    on = true;
    for (int i = 0; i < ring.size(); i++) {
      LanePath path = ring.path(i);
      if (!path.behind().isEmpty()) {
        ring.setPath(i, path.alone());
        send(path, ring.delivery(i), ring.token(i));
      }
    }
  }
}
