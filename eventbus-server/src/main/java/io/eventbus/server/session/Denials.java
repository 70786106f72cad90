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
   * @param action what it wanted to do
   * @param name with which topic, filter or service, a legal one
   * @param verdict which rule says so; asked once at most
   */
  void denied(Action action, String name, Supplier<Verdict> verdict);

  /**
   * Tells that the client was refused by what is no rule.
   *
   * @param action what it wanted to do
   * @param name with which topic, filter or service
   * @param reason why, for operators
   */
  default void denied(Action action, String name, String reason) {
    denied(action, name, () -> new Verdict(false, null, reason));
  }
}
