package io.eventbus.server.config;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Some quotas with their limits; of the others nothing is said. Immutable.
 *
 * @param limits by quota; 0 says that there is no limit
 */
public record Quotas(Map<Quota, Long> limits) {
  /** Says nothing of any quota. */
  public static final Quotas NONE = new Quotas(Map.of());

  /**
   * Takes a copy.
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
                quota.key() + ": " + limit + " (expected: 0 to " + quota.most() + ")");
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
   * Says whether nothing is limited.
   *
   * @return true if each limit is 0 or not said
   */
  public boolean areNone() {
    return limits.values().stream().allMatch(limit -> limit == 0);
  }

  /**
   * Adds what others say where these say nothing.
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
   * Returns of each quota the more generous limit of two sets that are as special as each other.
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
