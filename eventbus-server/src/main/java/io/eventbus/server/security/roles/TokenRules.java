package io.eventbus.server.security.roles;

import io.eventbus.server.security.Action;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.Effect;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Rule;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Policy that adds the rules of a client's token to another policy. An issuer of tokens may allow
 * what no role does: it could as well name any role. A rule that denies wins, wherever it was
 * written. Immutable; any thread.
 *
 * <p>Where the other policy allows an action for everything and a token has rules that allow it,
 * the token's take the place of everything: they would mean nothing otherwise.
 */
public final class TokenRules implements PermissionPolicy {
  /** Maximum of rules of one token. */
  static final int MAX_RULES = 1_000;

  private static final String SOURCE = "token";
  private final PermissionPolicy policy;

  /** Creates a policy. */
  public TokenRules(PermissionPolicy policy) {
    this.policy = policy;
  }

  @Override
  public Permissions permissions(Identity identity, Credentials credentials) {
    Permissions others = policy.permissions(identity, credentials);
    if (identity.allow().isEmpty() && identity.deny().isEmpty()) {
      return others;
    }
    TemplateValues values =
        new TemplateValues(
            identity.subject(), identity.account(), credentials.client(), identity.claims());
    boolean tooMany = count(identity.allow()) + count(identity.deny()) > MAX_RULES;
    Map<Action, FilterRules> all = new EnumMap<>(Action.class);
    for (Action action : Action.values()) {
      List<String> allow = identity.allow().getOrDefault(action, List.of());
      FilterRules start =
          identity.allow().containsKey(action) && others.of(action).allowEverything()
              ? FilterRules.nothing(SOURCE)
              : others.of(action);
      List<Rule> rules = new ArrayList<>();
      if (tooMany) {
        String source = SOURCE + ", which has more than " + MAX_RULES + " rules";
        rules.add(new Rule(Effect.DENY, action, "", source, null));
      } else {
        allow.forEach(p -> rules.add(rule(Effect.ALLOW, action, p, values)));
        identity
            .deny()
            .getOrDefault(action, List.of())
            .forEach(p -> rules.add(rule(Effect.DENY, action, p, values)));
      }
      all.put(action, start.with(rules));
    }
    return new Permissions(all);
  }

  private static int count(Map<Action, List<String>> patterns) {
    return patterns.values().stream().mapToInt(List::size).sum();
  }

  /** Creates a rule; a wrong pattern makes it void, because it is too late to refuse it. */
  private static Rule rule(Effect effect, Action action, String pattern, TemplateValues values) {
    try {
      return RulePattern.of(effect, action, pattern, SOURCE).bind(values);
    } catch (IllegalArgumentException e) {
      String why = String.valueOf(e.getMessage());
      return new Rule(effect, action, RolesParser.printable(pattern), SOURCE + ": " + why, null);
    }
  }
}
