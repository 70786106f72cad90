package io.eventbus.server.session;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.LimitsConfig;
import io.eventbus.server.routing.HeapBytes;
import io.eventbus.server.routing.RoutedSubscription;
import io.eventbus.server.routing.SubscriptionIndex;
import io.eventbus.server.routing.WildcardPattern;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the subscriptions of one connection take of what all connections share, and how much they
 * may: no few of them can take everything, and one that wants little gets it while others sit on
 * all that they may have. Confined to the loop.
 *
 * <p>A subscription is charged as if it shared nothing with others, so that what is given back is
 * what was taken. The index counts what is really there. Two loops may pass a bound of the bus by
 * one subscription each: it is a bound, not an account.
 */
final class SubscriptionShare {
  /** One part of the bus's bytes in so many is for one connection. */
  private static final int CONNECTION_PART = 8;

  /** What every connection may have while there is anything left. */
  private static final long SMALL_BYTES = 32 << 10;

  /** One part of the bus's patterns in so many is for one connection, but at least so many. */
  private static final int PATTERN_PART = 16;

  private static final int MIN_PATTERNS = 16;

  private static final String ADVICE = "; use fewer or shorter filters, or another bus";

  private final ClientLink link;
  private final SubscriptionIndex index;
  private final LimitsConfig limits;
  private long bytes;
  // How many subscriptions have each; without the short ones, which have no bound.
  private Map<WildcardPattern, Integer> patterns = Map.of();

  SubscriptionShare(ClientLink link, SubscriptionIndex index, LimitsConfig limits) {
    this.link = link;
    this.index = index;
    this.limits = limits;
  }

  /**
   * Takes what a subscription needs.
   *
   * @param subscription is not in the index
   * @return null, or which limit it would pass, to be shown to the client; then nothing was taken
   */
  @Nullable String take(RoutedSubscription subscription, int groups) {
    WildcardPattern pattern = bounded(subscription);
    String problem = pattern == null ? null : problem(pattern);
    if (problem == null && subscription.group() != null) {
      problem = problem(subscription.filter(), subscription.group(), groups);
    }
    long cost = HeapBytes.ofAlone(subscription);
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
    // What is there already makes no look-up slower.
    if (patterns.containsKey(pattern) || index.hasPattern(pattern)) {
      return null;
    }
    int most = limits.wildcardPatterns();
    int own = Math.max(MIN_PATTERNS, most / PATTERN_PART);
    if (patterns.size() >= own) {
      return "the filters of the connection have "
          + patterns.size()
          + " patterns of wildcards with more than four tokens (expected: at most "
          + own
          + ", a sixteenth of limits.wildcard-patterns); put the wildcards at the same places, or"
          + " use shorter filters";
    }
    int all = index.patterns();
    if (all >= most) {
      return "the filters of all clients have "
          + all
          + " patterns of wildcards (expected: at most "
          + most
          + ", limits.wildcard-patterns); put the wildcards where other filters have them, use at"
          + " most four tokens, or another bus";
    }
    return null;
  }

  private @Nullable String problem(TopicFilter filter, String group, int own) {
    int others = index.otherGroups(filter, group);
    int most = limits.topicGroups();
    if (others < most / 2 || (others < most && own <= 1)) {
      return null;
    }
    return "the "
        + (filter.isExact() ? "topic " + filter + " has " : "filters with wildcards have ")
        + others
        + " groups (expected: at most "
        + most
        + ", limits.topic-groups, or half of it where the connection has another group); use a"
        + " group that is there, or another bus";
  }

  private @Nullable String problem(long cost) {
    long budget = limits.subscriptionBudget();
    long own = Math.max(SMALL_BYTES, budget / CONNECTION_PART);
    if (bytes + cost > own) {
      return "the subscriptions of the connection take "
          + bytes
          + " bytes, and this one "
          + cost
          + " (expected: at most "
          + own
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
    if (!link.acquireSubscriptionBytes(cost)) {
      return "the subscriptions of all connections from the client's address have no room for "
          + cost
          + " bytes more (expected: at most limits.address-memory-percent of "
          + budget
          + ", limits.subscription-bytes)"
          + ADVICE;
    }
    return null;
  }

  /** Gives back what was taken for a subscription. */
  void give(RoutedSubscription subscription) {
    long cost = HeapBytes.ofAlone(subscription);
    bytes -= cost;
    link.releaseSubscriptionBytes(cost);
    WildcardPattern pattern = bounded(subscription);
    if (pattern != null) {
      patterns.computeIfPresent(pattern, (p, n) -> n == 1 ? null : n - 1);
    }
  }

  /** Gives back everything. */
  void giveAll() {
    if (bytes > 0) {
      link.releaseSubscriptionBytes(bytes);
    }
    bytes = 0;
    patterns = Map.of();
  }
}
