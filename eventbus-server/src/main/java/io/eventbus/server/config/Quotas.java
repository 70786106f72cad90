package io.eventbus.server.config;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Limits of some quotas; the others are not set. Immutable.
 *
 * @param limits by quota; 0 says that there is no limit
 */
public record Quotas(Map<Quota, Long> limits) {
  /** No quotas. */
  public static final Quotas NONE = new Quotas(Map.of());

  /**
   * Copies the map.
   *
   * @param limits by quota; 0 says that there is no limit
   * @throws IllegalArgumentException if one is out of its range
   */
  public Quotas {
    Map<Quota, Long> copy = new EnumMap<>(Quota.class);
    limits.forEach(
        (quota, limit) -> {
          if (!quota.isLegal(limit)) {
            throw new IllegalArgumentException(
                quota.key() + ": " + limit + " (expected: 0 to " + quota.max() + ")");
          }
          copy.put(quota, limit);
        });
    limits = Collections.unmodifiableMap(copy);
  }

  /**
   * Returns a limit.
   *
   * @param quota of what
   * @return 0 for none
   */
  public long limit(Quota quota) {
    return limits.getOrDefault(quota, 0L);
  }

  /**
   * Returns whether nothing is limited.
   *
   * @return true if each limit is 0 or not said
   */
  public boolean areNone() {
    return limits.values().stream().allMatch(limit -> limit == 0);
  }

  /**
   * Returns these quotas, completed by others where these are not set.
   *
   * @param others less special ones
   * @return both
   */
  public Quotas over(Quotas others) {
    if (limits.isEmpty()) {
      return others;
    }
    Map<Quota, Long> both = new EnumMap<>(Quota.class);
    both.putAll(others.limits);
    both.putAll(limits);
    return new Quotas(both);
  }

  /**
   * Returns the more generous limit of each quota of two sets of equal rank.
   *
   * @param others the other set
   * @return what one of them allows
   */
  public Quotas or(Quotas others) {
    Map<Quota, Long> both = new EnumMap<>(Quota.class);
    both.putAll(others.limits);
    limits.forEach(
        (quota, limit) ->
            both.merge(quota, limit, (a, b) -> a == 0 || b == 0 ? 0 : Math.max(a, b)));
    return new Quotas(both);
  }
}
