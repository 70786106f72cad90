package io.eventbus.server.session;

import io.eventbus.server.security.Action;
import io.eventbus.server.security.Verdict;
import java.util.function.Supplier;

/** Tells operators what one client was not allowed to do. Confined to the client's loop. */
@FunctionalInterface
interface Denials {
  /**
   * Tells that the client was refused.
   *
   * @param verdict which rule says so; asked once at most
   */
  void denied(Action action, String name, Supplier<Verdict> verdict);

  /** Tells that the client was refused by what is no rule. */
  default void denied(Action action, String name, String reason) {
    denied(action, name, () -> new Verdict(false, null, reason));
  }
}
