package io.eventbus.server.subscription;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Numbers of the groups that have members in an index. Clients choose the names; numbers are
 * compared in one step, and no choice of names makes them collide. Changed under the index's lock;
 * any thread may read.
 */
final class GroupNames {
  /** Number that no group has. */
  static final long NONE = 0;

  private record Named(long number, int members) {}

  private final Map<String, Named> names = new ConcurrentHashMap<>();
  private long last = NONE;

  /** Joins a subscription to a group; returns the group's number. */
  long join(@Nullable String name) {
    if (name == null) {
      return NONE;
    }
    Named before = names.get(name);
    Named now =
        before == null ? new Named(++last, 1) : new Named(before.number, before.members + 1);
    names.put(name, now);
    return now.number;
  }

  /** Removes a subscription from a group that it has joined. */
  void leave(@Nullable String name) {
    if (name != null) {
      names.computeIfPresent(
          name, (n, of) -> of.members == 1 ? null : new Named(of.number, of.members - 1));
    }
  }

  /** Returns a group's number, {@link #NONE} if it has no member. */
  long number(String name) {
    Named named = names.get(name);
    return named == null ? NONE : named.number;
  }
}
