package io.eventbus.server.security;

import io.eventbus.protocol.TopicFilter;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Rules for one action, in the form in which they are checked. Many clients may share them.
 * Immutable; any thread.
 */
public final class RuleList {
  static final RuleList EMPTY = new RuleList(List.of());

  /**
   * Number up to which rules are checked one by one: a tree for each client would cost more memory
   * than it saves time.
   */
  private static final int MAX_LINEAR = 4;

  private final List<Rule> rules;
  private final TopicFilter[] allow;
  private final TopicFilter[] deny;
  private final @Nullable FilterTree allowTree;
  private final @Nullable FilterTree denyTree;

  /** Set by a rule that denies something unknown: it may be anything. */
  private final boolean deniesEverything;

  /** Creates a list. */
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
    return filters.length > MAX_LINEAR ? new FilterTree(List.of(filters)) : null;
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

  /** Returns how many tokens or filters are compared for one topic at most. */
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

  /** Returns whether one rule allows everything that the filter matches. */
  boolean allows(TopicFilter filter) {
    for (TopicFilter allowed : allow) {
      if (allowed.contains(filter)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether a rule denies something that the filter matches. */
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

  /** Returns the first rule of an effect whose filter meets a condition. */
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

  /** Returns the first rule that would allow something, had its templates values. */
  @Nullable Rule voidAllow() {
    for (Rule rule : rules) {
      if (rule.effect() == Effect.ALLOW && rule.filter() == null) {
        return rule;
      }
    }
    return null;
  }
}
