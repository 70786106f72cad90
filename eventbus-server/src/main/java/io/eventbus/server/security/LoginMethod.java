package io.eventbus.server.security;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One way to prove who one is. Called on event loops, several at a time: the same is asked of it as
 * of an {@link Authenticator}.
 */
public interface LoginMethod {
  /**
   * Says whether credentials are for this method, right or wrong, so that no later one is asked.
   *
   * @return true if {@link #check} decides
   */
  boolean takes(Credentials credentials);

  /**
   * Checks credentials that are for this method.
   *
   * @return what they prove: at once, or later by any thread. Cancelled where no client waits for
   *     it any more; work that has not begun then should not be
   */
  CompletableFuture<LoginOutcome> check(Credentials credentials);

  /**
   * Finds credentials that were right before, at once. For whom this is asked no guess is counted,
   * so only a method whose credentials cannot be guessed knows any.
   *
   * @return who they prove the client to be; null where {@link #check} has to be asked
   */
  default @Nullable Identity known(Credentials credentials) {
    return null;
  }
}
