package io.eventbus.server.security;

import io.eventbus.protocol.TopicFilter;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Rules for one action, in the form in which they are asked. Many clients may share one. Immutable;
 * any thread.
 */
public final class RuleList {
  static final RuleList EMPTY = new RuleList(List.of());

  /** So many are looked at one by one: a tree for each client would take more memory than time. */
  private static final int FEW = 4;

  private final List<Rule> rules;
  private final TopicFilter[] allow;
  private final TopicFilter[] deny;
  private final @Nullable FilterTree allowTree;
  private final @Nullable FilterTree denyTree;

  /** A rule that denies something unknown: it may be anything. */
  private final boolean deniesEverything;

  /** Makes a list. */
  public RuleList(List<Rule> rules) {
    this.rules = List.copyOf(rules);
    this.allow = filters(this.rules, Effect.ALLOW);
    this.deny = filters(this.rules, Effect.DENY);
    this.allowTree = tree(allow);
    this.denyTree = tree(deny);
    this.deniesEverything =
        rules.stream().anyMatch(r -> r.effect() == Effect.DENY && r.filter() == null);
  }

  private static TopicFilter[] filters(List<Rule> rules, Effect effect) {
    return rules.stream()
        .filter(r -> r.effect() == effect)
        .map(Rule::filter)
        .filter(Objects::nonNull)
        .toArray(TopicFilter[]::new);
  }

  private static @Nullable FilterTree tree(TopicFilter[] filters) {
    return filters.length > FEW ? new FilterTree(List.of(filters)) : null;
  }

  List<Rule> rules() {
    return rules;
  }

  int size() {
    return rules.size();
  }

  boolean deniesSomething() {
    return deniesEverything || deny.length > 0;
  }

  /** How many tokens or filters are compared for one topic at most. */
  int steps() {
    return steps(allowTree, allow) + steps(denyTree, deny);
  }

  private static int steps(@Nullable FilterTree tree, TopicFilter[] filters) {
    return tree == null ? filters.length : tree.steps();
  }

  boolean allows(String topic) {
    return matchesOne(allowTree, allow, topic);
  }

  boolean denies(String topic) {
    return deniesEverything || matchesOne(denyTree, deny, topic);
  }

  private static boolean matchesOne(
      @Nullable FilterTree tree, TopicFilter[] filters, String topic) {
    if (tree != null) {
      return tree.matches(topic);
    }
    for (TopicFilter filter : filters) {
      if (filter.matches(topic)) {
        return true;
      }
    }
    return false;
  }

  /** Whether one rule allows everything that the filter selects. */
  boolean allows(TopicFilter filter) {
    for (TopicFilter allowed : allow) {
      if (allowed.contains(filter)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a rule denies something that the filter selects. */
  boolean denies(TopicFilter filter) {
    if (deniesEverything) {
      return true;
    }
    for (TopicFilter denied : deny) {
      if (denied.intersects(filter)) {
        return true;
      }
    }
    return false;
  }

  /** The first rule of an effect whose filter is as asked for. */
  @Nullable Rule find(Effect effect, Predicate<TopicFilter> asked) {
    for (Rule rule : rules) {
      TopicFilter filter = rule.filter();
      boolean applies = filter == null ? effect == Effect.DENY : asked.test(filter);
      if (rule.effect() == effect && applies) {
        return rule;
      }
    }
    return null;
  }

  /** The first rule that would allow something, had its templates values. */
  @Nullable Rule voidAllow() {
    for (Rule rule : rules) {
      if (rule.effect() == Effect.ALLOW && rule.filter() == null) {
        return rule;
      }
    }
    return null;
  }
}
