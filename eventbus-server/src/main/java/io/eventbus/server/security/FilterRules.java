package io.eventbus.server.security;

import io.eventbus.protocol.TopicFilter;
import java.util.List;

/** Which topics one action is allowed for. Immutable; any thread. */
public final class FilterRules {
  private final boolean everything;
  private final List<TopicFilter> allow;
  private final List<TopicFilter> deny;
  private final String origin;

  private FilterRules(
      boolean everything, List<TopicFilter> allow, List<TopicFilter> deny, String origin) {
    this.everything = everything;
    this.allow = List.copyOf(allow);
    this.deny = List.copyOf(deny);
    this.origin = origin;
  }

  /**
   * Makes rules that allow every topic, the system's as well.
   *
   * @param origin where they come from; shown to clients
   * @return the rules
   */
  public static FilterRules everything(String origin) {
    return new FilterRules(true, List.of(), List.of(), origin);
  }

  /**
   * Makes rules that allow no topic.
   *
   * @param origin where they come from; shown to clients
   * @return the rules
   */
  public static FilterRules nothing(String origin) {
    return new FilterRules(false, List.of(), List.of(), origin);
  }

  /**
   * Makes rules that allow some topics.
   *
   * @param allow what is allowed
   * @param deny what of that is not
   * @param origin where they come from; shown to clients
   * @return the rules
   */
  public static FilterRules of(List<TopicFilter> allow, List<TopicFilter> deny, String origin) {
    return new FilterRules(false, allow, deny, origin);
  }

  /**
   * Says whether the action is allowed for one topic.
   *
   * @param topic a legal topic
   * @return true if a filter allows it and none denies it
   */
  public boolean allows(String topic) {
    return everything || (matchesOne(allow, topic) && !matchesOne(deny, topic));
  }

  /**
   * Says whether the action is allowed for all topics that a filter selects, so that none of them
   * has to be looked at later.
   *
   * @param filter a legal filter
   * @return true if one of the filters that allow contains it and none that denies meets it
   */
  public boolean allows(TopicFilter filter) {
    if (everything) {
      return true;
    }
    for (TopicFilter denied : deny) {
      if (denied.intersects(filter)) {
        return false;
      }
    }
    for (TopicFilter allowed : allow) {
      if (allowed.contains(filter)) {
        return true;
      }
    }
    return false;
  }

  private static boolean matchesOne(List<TopicFilter> filters, String topic) {
    for (int i = 0; i < filters.size(); i++) {
      if (filters.get(i).matches(topic)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Says whether nothing has to be asked.
   *
   * @return true if every topic is allowed
   */
  public boolean allowEverything() {
    return everything;
  }

  /**
   * Returns where the rules come from, a configuration key for instance.
   *
   * @return shown to clients
   */
  public String origin() {
    return origin;
  }
}
