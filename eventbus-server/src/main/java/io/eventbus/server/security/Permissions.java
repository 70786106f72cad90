package io.eventbus.server.security;

import java.util.EnumMap;
import java.util.Map;

/**
 * Permissions of a client. Immutable; any thread. Clients with the same permissions may share them.
 */
public final class Permissions {
  /** Permissions of an unknown client: none. */
  public static final Permissions NONE = new Permissions(Map.of());

  private final Map<Action, FilterRules> rules = new EnumMap<>(Action.class);

  /**
   * Creates permissions.
   *
   * @param rules for the actions that are allowed; any other is not
   */
  public Permissions(Map<Action, FilterRules> rules) {
    for (Action action : Action.values()) {
      FilterRules given = rules.get(action);
      this.rules.put(action, given == null ? FilterRules.nothing("no rule") : given);
    }
  }

  /** Returns the rules for one action, which name the topics. */
  public FilterRules of(Action action) {
    FilterRules found = rules.get(action);
    if (found == null) {
      throw new IllegalStateException("no rules for " + action + " (expected: for each action)");
    }
    return found;
  }
}
