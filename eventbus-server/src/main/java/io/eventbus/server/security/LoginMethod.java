package io.eventbus.server.security;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Method of login. Called on event loops, several at a time: the rules of an {@link Authenticator}
 * hold.
 */
public interface LoginMethod {
  /**
   * Returns whether credentials are for this method, right or wrong, so that no later one is asked.
   */
  boolean takes(Credentials credentials);

  /**
   * Checks credentials that are for this method.
   *
   * @return the outcome: at once, or later by any thread. Cancelled if no client waits for it any
   *     more; work that has not begun then should not begin
   */
  CompletableFuture<LoginOutcome> check(Credentials credentials);

  /**
   * Returns the identity of credentials that were right before, at once; null if {@link #check} has
   * to be called. Such calls count as no guess, so only a method whose credentials cannot be
   * guessed knows any.
   */
  default @Nullable Identity known(Credentials credentials) {
    return null;
  }
}
