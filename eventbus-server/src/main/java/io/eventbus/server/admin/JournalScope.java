package io.eventbus.server.admin;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.security.Effect;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Journals that a caller may see and change: all for operators, else those of its account.
 * Immutable.
 */
final class JournalScope {
  private static final JournalScope ALL = new JournalScope(null, null);

  private final @Nullable String own;
  private final @Nullable FilterRules rules;

  private JournalScope(@Nullable String own, @Nullable FilterRules rules) {
    this.own = own;
    this.rules = rules;
  }

  /**
   * Returns the scope of a caller.
   *
   * @param rules what it may manage if it is no operator
   * @throws HttpFailure if it has none
   */
  static JournalScope of(AdminCaller caller, FilterRules rules) throws HttpFailure {
    if (caller.role() != AdminRole.NONE) {
      return ALL;
    }
    Identity identity = caller.identity();
    if (identity == null || !allowsSomething(rules)) {
      throw forbidden("this needs the role viewer, or a role that may do journal");
    }
    return new JournalScope(identity.account(), rules);
  }

  /** Returns whether there is anything that the rules allow, unless another one denies it. */
  static boolean allowsSomething(FilterRules rules) {
    return rules.allowsWhatNoRuleDenies()
        || rules.rules().stream()
            .anyMatch(rule -> rule.effect() == Effect.ALLOW && rule.filter() != null);
  }

  private static HttpFailure forbidden(String why) {
    return new HttpFailure(403, "FORBIDDEN", why);
  }

  /**
   * Returns the account that is meant; null for all.
   *
   * @param asked that of the request; null for none
   * @throws HttpFailure if the caller may not see it, whether or not there is one
   */
  @Nullable String account(@Nullable String asked) throws HttpFailure {
    if (own == null || asked == null || asked.equals(own)) {
      return own == null ? asked : own;
    }
    throw forbidden("account: another one (expected: your own, or none)");
  }

  /**
   * Checks filters of a journal that is to be changed.
   *
   * @throws HttpFailure if the caller may not manage all of their topics
   */
  void check(List<TopicFilter> filters) throws HttpFailure {
    for (TopicFilter filter : filters) {
      if (rules != null && !rules.allows(filter)) {
        throw forbidden(
            "journals of "
                + filter
                + " are not yours to manage ("
                + rules.origin()
                + "; expected: filters that a rule for journal covers)");
      }
    }
  }
}
