package io.eventbus.server.session;

import io.eventbus.server.security.Action;
import io.eventbus.server.security.Verdict;
import java.util.function.Supplier;

/** Reports to operators what one client was not allowed to do. Confined to the client's loop. */
@FunctionalInterface
interface Denials {
  /**
   * Reports a refusal.
   *
   * @param verdict the deciding rule; evaluated at most once
   */
  void denied(Action action, String name, Supplier<Verdict> verdict);

  /** Reports a refusal that has another reason than a rule. */
  default void denied(Action action, String name, String reason) {
    denied(action, name, () -> new Verdict(false, null, reason));
  }
}
