package io.eventbus.server.samples;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Effect;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Rule;
import java.util.ArrayList;
import java.util.List;

/** Rules without a file. */
public final class SampleRules {
  private SampleRules() {}

  /** Returns rules that allow and deny filters. */
  public static FilterRules of(List<TopicFilter> allow, List<TopicFilter> deny, String origin) {
    List<Rule> rules = new ArrayList<>();
    allow.forEach(f -> rules.add(rule(Effect.ALLOW, f)));
    deny.forEach(f -> rules.add(rule(Effect.DENY, f)));
    return FilterRules.of(rules, origin);
  }

  /** Returns a rule. */
  public static Rule rule(Effect effect, TopicFilter filter) {
    return new Rule(effect, Action.SUBSCRIBE, filter.toString(), "test", filter);
  }
}
