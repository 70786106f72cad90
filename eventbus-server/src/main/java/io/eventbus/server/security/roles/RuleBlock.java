package io.eventbus.server.security.roles;

import io.eventbus.server.security.Action;
import io.eventbus.server.security.Rule;
import io.eventbus.server.security.RuleList;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rules of one section. Those without templates are prepared here, once for all clients. Immutable;
 * any thread.
 */
final class RuleBlock {
  static final RuleBlock EMPTY = new RuleBlock(List.of());

  private final List<RulePattern> patterns;
  private final List<RulePattern> withTemplates;
  private final Map<Action, RuleList> plain = new EnumMap<>(Action.class);

  RuleBlock(List<RulePattern> patterns) {
    this.patterns = List.copyOf(patterns);
    this.withTemplates = this.patterns.stream().filter(RulePattern::hasTemplates).toList();
    Map<Action, List<Rule>> rules = new EnumMap<>(Action.class);
    for (RulePattern pattern : this.patterns) {
      if (!pattern.hasTemplates()) {
        rules
            .computeIfAbsent(pattern.action(), action -> new ArrayList<>())
            .add(pattern.bind(TemplateValues.NONE));
      }
    }
    rules.forEach((action, some) -> plain.put(action, new RuleList(some)));
  }

  /** Returns all rules, as they were written. */
  List<RulePattern> patterns() {
    return patterns;
  }

  /** Returns the rules that differ for each client. */
  List<RulePattern> withTemplates() {
    return withTemplates;
  }

  /** Returns the rules that are the same for all clients; null if there is none for the action. */
  @Nullable RuleList plain(Action action) {
    return plain.get(action);
  }
}
