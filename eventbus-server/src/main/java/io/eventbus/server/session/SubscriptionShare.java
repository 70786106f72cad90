package io.eventbus.server.session;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.config.LimitsConfig;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.eventbus.server.subscription.WildcardPattern;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds of one connection in the subscription memory that all connections share: no few
 * connections can use up everything, and a connection that needs little gets it although others use
 * all that they may. Confined to the loop.
 *
 * <p>A subscription is charged as if it shared nothing with others, so that releases equal
 * acquisitions. The index counts the real memory. Two loops may exceed a bound of the bus by one
 * subscription each: it is a bound, not an account.
 */
final class SubscriptionShare {
  /** Divisor of the bus's bytes for the part of one connection. */
  private static final int CONNECTION_PART = 8;

  /** Bytes that every connection may have while any are left. */
  private static final long SMALL_BYTES = 32 << 10;

  /**
   * Divisor of the bus's patterns for the part of one connection; {@link #MIN_PATTERNS} is the
   * minimum.
   */
  private static final int PATTERN_PART = 16;

  private static final int MIN_PATTERNS = 16;

  private static final String ADVICE = "; use fewer or shorter filters, or another bus";

  private final AddressLimits address;
  private final SubscriptionIndex index;
  private final LimitsConfig limits;
  private long bytes;
  // Number of subscriptions of each pattern; without short patterns, which have no bound.
  private Map<WildcardPattern, Integer> patterns = Map.of();

  SubscriptionShare(AddressLimits address, SubscriptionIndex index, LimitsConfig limits) {
    this.address = address;
    this.index = index;
    this.limits = limits;
  }

  /**
   * Acquires the resources of a subscription that is not in the index. Returns null, or the limit
   * that it would exceed, as text for the client; then nothing was acquired.
   */
  @Nullable String acquire(RoutedSubscription subscription, int groups) {
    WildcardPattern pattern = bounded(subscription);
    String problem = pattern == null ? null : problem(pattern);
    if (problem == null && subscription.group() != null) {
      problem = problem(subscription.filter(), subscription.group(), groups);
    }
    long cost = subscription.heapBytesAlone();
    if (problem == null) {
      problem = problem(cost);
    }
    if (problem != null) {
      return problem;
    }
    bytes += cost;
    if (pattern != null) {
      patterns = patterns.isEmpty() ? new HashMap<>(4) : patterns;
      patterns.merge(pattern, 1, Integer::sum);
    }
    return null;
  }

  private static @Nullable WildcardPattern bounded(RoutedSubscription subscription) {
    WildcardPattern pattern = WildcardPattern.of(subscription.filter());
    return pattern == null || pattern.isShort() ? null : pattern;
  }

  private @Nullable String problem(WildcardPattern pattern) {
    // A known pattern does not slow down look-ups.
    if (patterns.containsKey(pattern) || index.hasPattern(pattern)) {
      return null;
    }
    int max = limits.wildcardPatterns();
    int ownMax = Math.max(MIN_PATTERNS, max / PATTERN_PART);
    if (patterns.size() >= ownMax) {
      return "the filters of the connection have "
          + patterns.size()
          + " patterns of wildcards with more than four tokens (expected: at most "
          + ownMax
          + ", a sixteenth of limits.wildcard-patterns); put the wildcards at the same places, or"
          + " use shorter filters";
    }
    int all = index.patterns();
    if (all >= max) {
      return "the filters of all clients have "
          + all
          + " patterns of wildcards (expected: at most "
          + max
          + ", limits.wildcard-patterns); put the wildcards where other filters have them, use at"
          + " most four tokens, or another bus";
    }
    return null;
  }

  private @Nullable String problem(TopicFilter filter, String group, int own) {
    int others = index.otherGroups(filter, group);
    int max = limits.topicGroups();
    if (others < max / 2 || (others < max && own <= 1)) {
      return null;
    }
    return "the "
        + (filter.isExact() ? "topic " + filter + " has " : "filters with wildcards have ")
        + others
        + " groups (expected: at most "
        + max
        + ", limits.topic-groups, or half of it where the connection has another group); use a"
        + " group that is there, or another bus";
  }

  private @Nullable String problem(long cost) {
    long budget = limits.subscriptionBudget();
    long ownMax = Math.max(SMALL_BYTES, budget / CONNECTION_PART);
    if (bytes + cost > ownMax) {
      return "the subscriptions of the connection take "
          + bytes
          + " bytes, and this one "
          + cost
          + " (expected: at most "
          + ownMax
          + " together, an eighth of limits.subscription-bytes)"
          + ADVICE;
    }
    long all = index.bytes();
    if (all + cost > budget) {
      return "the bus has all the subscriptions that it may: they take "
          + all
          + " bytes, and this one "
          + cost
          + " (expected: at most "
          + budget
          + " together, limits.subscription-bytes)"
          + ADVICE;
    }
    if (all > budget / 4 * 3 && bytes >= SMALL_BYTES) {
      return "the subscriptions of the connection take "
          + bytes
          + " bytes (expected: less than "
          + SMALL_BYTES
          + " for one more while those of all take over three quarters of "
          + budget
          + ", limits.subscription-bytes)"
          + ADVICE;
    }
    if (!address.acquireSubscriptionBytes(cost)) {
      return "the subscriptions of all connections from the client's address have no room for "
          + cost
          + " bytes more (expected: at most limits.address-memory-percent of "
          + budget
          + ", limits.subscription-bytes)"
          + ADVICE;
    }
    return null;
  }

  /** Releases the resources of a subscription. */
  void release(RoutedSubscription subscription) {
    long cost = subscription.heapBytesAlone();
    bytes -= cost;
    address.releaseSubscriptionBytes(cost);
    WildcardPattern pattern = bounded(subscription);
    if (pattern != null) {
      patterns.computeIfPresent(pattern, (p, n) -> n == 1 ? null : n - 1);
    }
  }

  /** Releases everything. */
  void releaseAll() {
    if (bytes > 0) {
      address.releaseSubscriptionBytes(bytes);
    }
    bytes = 0;
    patterns = Map.of();
  }
}
