package io.eventbus.server.routing;

import io.eventbus.server.subscription.MatchResult;
import io.eventbus.server.subscription.Route;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Routes of the topics that one loop has seen, here and to peers: looked up once, and again when
 * they no longer hold. Confined to its loop but for {@link #list}.
 */
final class LoopRoutes {
  /** Maximum of routes that one new route may push out. */
  private static final int ROUTES_FOR_ONE = 8;

  private final SubscriptionIndex unnamed;
  private final RemoteForwarder remote;
  private final RouteCache cache;
  private final MatchResult matches = new MatchResult();
  private int nextRoundRobin;

  /** Only topic whose route is not {@link Route#isShared shared}, if there is one. */
  private RouteCache.@Nullable Entry unshared;

  /** Creates an empty table; {@code unnamed} is the default account's index. */
  LoopRoutes(SubscriptionIndex unnamed, RemoteForwarder remote) {
    this.unnamed = unnamed;
    this.remote = remote;
    this.cache = new RouteCache(unnamed.shared(), unnamed.topicLimit());
  }

  /** Returns the subscriptions of the default account. */
  SubscriptionIndex unnamed() {
    return unnamed;
  }

  /** Returns a topic published in an account; null if the loop does not remember it. */
  RouteCache.@Nullable Entry find(SubscriptionIndex index, ByteBuffer in, int start, int length) {
    return cache.find(index, in, start, length);
  }

  /** Returns the position of a named group in a topic's route; -1 if it has no member there. */
  int group(RouteCache.Entry entry, String name) {
    return entry.index.group(entry.route(), name);
  }

  /** Returns whether a topic's route is what a look-up would find. */
  boolean isCurrent(RouteCache.Entry entry) {
    return entry.index.isCurrent(entry);
  }

  /** Returns the cost of looking up since the last call; see {@link MatchResult#takeWork}. */
  int takeWork() {
    return matches.takeWork();
  }

  /** Looks up a legal topic that the loop does not remember. */
  RouteCache.Entry add(
      SubscriptionIndex index, ByteBuffer in, int start, int length, String topic) {
    RouteCache.Entry entry = cache.add(index, in, start, length, topic);
    // Topics that are published to only once are to be shared evenly, too.
    entry.roundRobin = nextRoundRobin++;
    refresh(entry);
    return entry;
  }

  /** Returns a remembered topic with a route that holds; null if it was forgotten. */
  RouteCache.@Nullable Entry current(SubscriptionIndex index, byte[] topic) {
    RouteCache.Entry now = find(index, ByteBuffer.wrap(topic), 0, topic.length);
    if (now != null && !isCurrent(now)) {
      refresh(now);
    }
    return now;
  }

  /** Looks up a topic again. */
  void refresh(RouteCache.Entry entry) {
    Route before = entry.route();
    long invalidations = entry.invalidations();
    entry.index.refresh(entry, matches);
    if (!entry.route().isShared()) {
      makeRoomFor(entry);
    }
    // A route that was taken from its topic has left its plan behind.
    boolean planned = entry.remote != null;
    if (entry.route() != before
        || entry.invalidations() != invalidations
        || planned != entry.route().leavesTheBus()) {
      plan(entry);
    }
  }

  /**
   * Forgets other routes of this loop if the routes take all that they may; if that does not help,
   * this one goes soon.
   */
  private void makeRoomFor(RouteCache.Entry entry) {
    for (int i = 0; i < ROUTES_FOR_ONE && !entry.route().isShared(); i++) {
      RouteCache.Entry other = cache.someWithRoute(entry);
      if (other == null) {
        break;
      }
      other.index.forget(other);
      entry.index.share(entry);
    }
    if (!entry.route().isShared() && unshared != entry) {
      forgetUnshared();
      unshared = entry;
    }
  }

  /** Keeps the loop from holding more than one route that is not counted. */
  private void forgetUnshared() {
    RouteCache.Entry entry = unshared;
    unshared = null;
    if (entry != null && !entry.route().isShared()) {
      entry.index.forget(entry);
    }
  }

  private void plan(RouteCache.Entry entry) {
    Route route = entry.route();
    RemotePlan ofGroups = entry.groupsOnly;
    entry.groupsOnly = null;
    if (ofGroups != null) {
      ofGroups.close();
    }
    RemotePlan before = entry.remote;
    entry.remote =
        route.leavesTheBus()
            ? remote.plan(
                before,
                entry.index.account(),
                entry.topic(),
                route.remotePlain(),
                route.remoteGroups())
            : null;
    if (before != null) {
      before.close();
    }
    if (before != entry.remote || ofGroups != null) {
      cache.recount(entry);
    }
  }

  /**
   * Returns the plan of how frames of a topic, with a route that holds, leave for peers to whose
   * subscribers without a group they do not go; null if no member of a group is at peers only.
   */
  @Nullable RemotePlan groupsOnly(RouteCache.Entry entry) {
    Route route = entry.route();
    if (entry.groupsOnly == null && !route.remoteGroups().isEmpty()) {
      entry.groupsOnly =
          remote.plan(null, entry.index.account(), entry.topic(), Map.of(), route.remoteGroups());
      cache.recount(entry);
    }
    return entry.groupsOnly;
  }

  /**
   * Releases routes that no longer hold, or are not used.
   *
   * @param nowNanos {@link System#nanoTime}
   */
  void trim(long nowNanos) {
    forgetUnshared();
    cache.sweep(nowNanos);
  }

  /** Forgets everything, at the end of the loop. */
  void clear() {
    forgetUnshared();
    cache.clear();
  }

  /** Returns the topics seen; any thread, and perhaps a moment old. */
  List<RouteCache.Entry> list() {
    return cache.list();
  }
}
