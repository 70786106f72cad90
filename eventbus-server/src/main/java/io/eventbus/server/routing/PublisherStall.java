package io.eventbus.server.routing;

import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.subscription.Route;
import org.jspecify.annotations.Nullable;

/**
 * Stall of one publisher, and whom it keeps from being served: a subscriber under BLOCK that stalls
 * a publisher is charged for it while another subscriber of that publisher has nothing to read.
 * Confined to the publisher's loop.
 */
public final class PublisherStall {
  /** Number of recent topics, searched for starving subscribers. */
  private static final int RECENT = 8;

  /** Subscribers of one topic that are asked whether they have something to read. */
  private static final int ASKED = 64;

  private final RouteCache.@Nullable Entry[] recent = new RouteCache.Entry[RECENT];
  private RouteCache.@Nullable Entry last;
  private RouteCache.@Nullable Entry held;
  private boolean groups;
  private int next;
  private long chargedUntil;

  /** Creates the state of a publisher that is not stalled. */
  public PublisherStall() {}

  /** Notes a topic that the publisher has published to. */
  void published(RouteCache.Entry entry) {
    held = null;
    if (entry != last) {
      last = entry;
      recent[next++ & (RECENT - 1)] = entry;
    }
  }

  /**
   * Begins a stall by the subscribers of a topic.
   *
   * @param withGroups whether members of groups are waited for as well
   */
  void begin(RouteCache.Entry entry, boolean withGroups) {
    if (held == null) {
      chargedUntil = Long.MIN_VALUE;
    }
    held = entry;
    groups = withGroups;
  }

  /** Charges those who stall the publisher; to be called several times a second. */
  void onTick(long nowNanos, LoopRoutes routes) {
    RouteCache.Entry topic = held == null ? null : routes.current(held.index, held.bytes);
    if (topic == null) {
      return;
    }
    held = topic;
    for (RouteCache.Entry other : recent) {
      if (other != null) {
        other.keep();
      }
    }
    topic.keep();
    if (chargedUntil == Long.MIN_VALUE) {
      chargedUntil = nowNanos;
    } else if (someoneStarves(topic)) {
      // With the time in which they still had something to read, and could not be seen to starve.
      charge(topic.route(), groups, nowNanos - chargedUntil);
      chargedUntil = nowNanos;
    }
  }

  private boolean someoneStarves(RouteCache.Entry topic) {
    if (starves(topic.route(), groups)) {
      return true;
    }
    for (RouteCache.Entry other : recent) {
      if (other != null && starves(other.route(), groups)) {
        return true;
      }
    }
    return false;
  }

  static boolean starves(Route route, boolean groups) {
    int left = ASKED;
    for (RouteTarget[] targets : route.byLoop()) {
      for (int i = 0; i < targets.length && left > 0; i++, left--) {
        if (targets[i].subscriber().isStarving()) {
          return true;
        }
      }
    }
    for (int g = 0; groups && g < route.groups().size() && left > 0; g++) {
      for (int i = 0; i < route.groups().size(g) && left > 0; i++, left--) {
        if (route.groups().member(g, i).subscriber().isStarving()) {
          return true;
        }
      }
    }
    return false;
  }

  static void charge(Route route, boolean groups, long nanos) {
    for (Subscriber subscriber : route.blocking()) {
      if (subscriber.isFull()) {
        subscriber.chargeStall(nanos);
      }
    }
    for (int g = 0; groups && g < route.groups().blocking(); g++) {
      if (route.groups().isFull(g)) {
        for (int i = 0; i < route.groups().size(g); i++) {
          route.groups().member(g, i).subscriber().chargeStall(nanos);
        }
      }
    }
  }
}
