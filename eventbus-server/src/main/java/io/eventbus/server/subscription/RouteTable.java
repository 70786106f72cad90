package io.eventbus.server.subscription;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Routes that are remembered, each once for all topics and loops that have the same, and the heap
 * that they may take. A route is known by the stamps of the sets of subscriptions that it was built
 * of. Any thread; a loop comes here only when a topic's subscriptions have changed.
 */
final class RouteTable {
  /** Key that is comparable, because a client can choose stamps of which all hashes are equal. */
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

  /** Creates an empty table with a limit in bytes. */
  RouteTable(long limit) {
    this.limit = limit;
  }

  /** Acquires a share in the route that was built of these sets; null if there is none. */
  synchronized @Nullable Route acquire(long[] stamps) {
    Route route = routes.get(new Key(stamps));
    if (route != null) {
      route.shares++;
    }
    return route;
  }

  /**
   * Acquires a share in a route that was just built, or in an equal one, and returns it; the given
   * one, not {@link Route#isShared shared}, if there is no room.
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

  /** Releases a share; no effect on a route that is not shared. */
  synchronized void release(Route route) {
    if (route.shares > 0 && --route.shares == 0) {
      routes.remove(new Key(route.stamps));
      used -= route.bytes;
      bytes.add(-route.bytes);
    }
  }

  /** Returns the estimated bytes of all routes, each counted once. */
  long bytes() {
    return bytes.sum();
  }

  synchronized int size() {
    return routes.size();
  }
}
