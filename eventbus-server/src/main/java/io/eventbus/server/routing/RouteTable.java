package io.eventbus.server.routing;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The routes that are remembered, each once for all topics and loops that have the same, and how
 * much of the heap they may take. A route is known by the stamps of the sets of subscriptions that
 * it was made of. Any thread; a loop comes here only when a topic's subscriptions have changed.
 */
final class RouteTable {
  /** Comparable, because a client can choose stamps of which all hashes are equal. */
  static final class Key implements Comparable<Key> {
    private final long[] stamps;

    Key(long[] stamps) {
      this.stamps = stamps;
    }

    @Override
    public int compareTo(Key other) {
      return Arrays.compare(stamps, other.stamps);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Key that && Arrays.equals(stamps, that.stamps);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(stamps);
    }
  }

  private final Map<Key, Route> routes = new HashMap<>();
  private final long limit;
  private final LongAdder bytes = new LongAdder();
  private long used;

  /**
   * Makes an empty table.
   *
   * @param limit bytes that the routes may take
   */
  RouteTable(long limit) {
    this.limit = limit;
  }

  /** Takes a share in the route that was made of these sets; null if there is none. */
  synchronized @Nullable Route take(long[] stamps) {
    Route route = routes.get(new Key(stamps));
    if (route != null) {
      route.shares++;
    }
    return route;
  }

  /**
   * Takes a share in a route that was just made, or in one that is equal.
   *
   * @return the one to use: the given one, not {@link Route#isShared shared}, if there is no room
   */
  synchronized Route share(Route made) {
    Key key = new Key(made.stamps);
    Route known = routes.get(key);
    if (known != null) {
      known.shares++;
      return known;
    }
    if (used + made.bytes <= limit) {
      routes.put(key, made);
      made.share();
      used += made.bytes;
      bytes.add(made.bytes);
    }
    return made;
  }

  /** Gives a share back; no effect on a route that is not shared. */
  synchronized void give(Route route) {
    if (route.shares > 0 && --route.shares == 0) {
      routes.remove(new Key(route.stamps));
      used -= route.bytes;
      bytes.add(-route.bytes);
    }
  }

  /** What all routes take by estimate, each counted once. */
  long bytes() {
    return bytes.sum();
  }

  synchronized int size() {
    return routes.size();
  }
}
