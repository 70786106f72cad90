package io.eventbus.server.security;

import io.eventbus.protocol.TopicFilter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Topics that one action is allowed for: those that a rule allows and none denies. The order of
 * rules does not matter. Immutable; any thread.
 */
public final class FilterRules {
  private static final RuleList[] NONE = {};

  private final boolean everything;

  /** Lists of roles, the same for all clients that have the role. */
  private final RuleList[] shared;

  /** Rules of one client. */
  private final RuleList own;

  private final boolean limited;
  private final String origin;

  private FilterRules(boolean everything, RuleList[] shared, RuleList own, String origin) {
    this.everything = everything;
    this.shared = shared;
    this.own = own;
    this.limited =
        !everything
            || own.deniesSomething()
            || Arrays.stream(shared).anyMatch(RuleList::deniesSomething);
    this.origin = origin;
  }

  /**
   * Creates rules that allow every topic, the system's as well.
   *
   * @param origin their source; shown to clients
   */
  public static FilterRules everything(String origin) {
    return new FilterRules(true, NONE, RuleList.EMPTY, origin);
  }

  /**
   * Creates rules that allow no topic.
   *
   * @param origin their source; shown to clients
   */
  public static FilterRules nothing(String origin) {
    return new FilterRules(false, NONE, RuleList.EMPTY, origin);
  }

  /**
   * Creates rules that allow some topics.
   *
   * @param rules allowing and denying rules, all of one action
   * @param origin their source; shown to clients
   */
  public static FilterRules of(List<Rule> rules, String origin) {
    return ofLists(List.of(new RuleList(rules)), origin);
  }

  /**
   * Creates rules of several lists, which are shared and not copied.
   *
   * @param lists allowing and denying rules
   * @param origin their source; shown to clients
   */
  public static FilterRules ofLists(List<RuleList> lists, String origin) {
    return new FilterRules(false, lists.toArray(RuleList[]::new), RuleList.EMPTY, origin);
  }

  /**
   * Adds rules; the present ones are shared and not copied.
   *
   * @param more rules of the same action; where everything is allowed, only those that deny change
   *     anything
   */
  public FilterRules with(List<Rule> more) {
    if (more.isEmpty()) {
      return this;
    }
    if (own.size() == 0) {
      return new FilterRules(everything, shared, new RuleList(more), origin);
    }
    List<Rule> all = new ArrayList<>(own.rules());
    all.addAll(more);
    return new FilterRules(everything, shared, new RuleList(all), origin);
  }

  /**
   * Returns whether the action is allowed for one topic: a rule allows it and none denies it.
   * Allocates nothing.
   */
  public boolean allows(String topic) {
    return !limited || (!denies(topic) && (everything || allowedByOne(topic)));
  }

  private boolean denies(String topic) {
    for (RuleList list : shared) {
      if (list.denies(topic)) {
        return true;
      }
    }
    return own.denies(topic);
  }

  private boolean allowedByOne(String topic) {
    for (RuleList list : shared) {
      if (list.allows(topic)) {
        return true;
      }
    }
    return own.allows(topic);
  }

  /**
   * Returns whether the action is allowed for all topics that a filter matches, so that single
   * topics need not be checked later: an allowing rule contains it and no denying one meets it.
   */
  public boolean allows(TopicFilter filter) {
    return !limited || (!denies(filter) && (everything || allowedByOne(filter)));
  }

  private boolean denies(TopicFilter filter) {
    for (RuleList list : shared) {
      if (list.denies(filter)) {
        return true;
      }
    }
    return own.denies(filter);
  }

  private boolean allowedByOne(TopicFilter filter) {
    for (RuleList list : shared) {
      if (list.allows(filter)) {
        return true;
      }
    }
    return own.allows(filter);
  }

  /** Returns the rule that decides on a topic: as {@link #allows(String)}, but slower. */
  public Verdict explain(String topic) {
    return explain(f -> f.matches(topic), f -> f.matches(topic), f -> false);
  }

  /** Returns the rule that decides on a filter: as {@link #allows(TopicFilter)}, but slower. */
  public Verdict explain(TopicFilter filter) {
    return explain(f -> f.intersects(filter), f -> f.contains(filter), f -> f.intersects(filter));
  }

  private Verdict explain(
      Predicate<TopicFilter> denies, Predicate<TopicFilter> allows, Predicate<TopicFilter> meets) {
    Rule denied = find(Effect.DENY, denies);
    if (denied != null) {
      return Verdict.of(denied);
    }
    if (everything) {
      return new Verdict(true, null, origin);
    }
    Rule allowed = find(Effect.ALLOW, allows);
    if (allowed != null) {
      return Verdict.of(allowed);
    }
    Rule part = find(Effect.ALLOW, meets);
    if (part != null) {
      return new Verdict(false, null, "no rule allows all of it; a part: " + part);
    }
    // Rules that are the same for all clients have no templates that could lack a value.
    Rule empty = own.voidAllow();
    return new Verdict(
        false, null, "no rule allows it" + (empty == null ? "" : "; not counted: " + empty));
  }

  private @Nullable Rule find(Effect effect, Predicate<TopicFilter> asked) {
    for (RuleList list : shared) {
      Rule found = list.find(effect, asked);
      if (found != null) {
        return found;
      }
    }
    return own.find(effect, asked);
  }

  /** Returns whether every topic is allowed, so that nothing has to be checked. */
  public boolean allowEverything() {
    return !limited;
  }

  /**
   * Says whether every topic is allowed that no rule denies.
   *
   * @return true if there are no rules that allow, because none is needed
   */
  public boolean allowsWhatNoRuleDenies() {
    return everything;
  }

  /**
   * Says what asking about one topic costs.
   *
   * @return tokens or filters that are compared at most
   */
  public int steps() {
    int steps = own.steps();
    for (RuleList list : shared) {
      steps += list.steps();
    }
    return steps;
  }

  /** Returns the number of rules. */
  public int size() {
    int size = own.size();
    for (RuleList list : shared) {
      size += list.size();
    }
    return size;
  }

  /** Returns the rules, for operators. */
  public List<Rule> rules() {
    List<Rule> all = new ArrayList<>();
    Arrays.stream(shared).forEach(list -> all.addAll(list.rules()));
    all.addAll(own.rules());
    return all;
  }

  /** Returns where the rules come from: the client's roles or a configuration key. */
  public String origin() {
    return origin;
  }
}
