package io.eventbus.server.security;

import java.util.concurrent.CompletableFuture;

/**
 * Finds out who a client is.
 *
 * <p>An implementation is called on event loops, several at a time: it must not block, because all
 * clients of a loop would wait, and should not throw. An exception, also one that completes the
 * future, counts as {@link Authentication.Unavailable} and is logged, so it holds no secrets. What
 * takes more than microseconds it does on threads of its own, of which it bounds what waits for
 * them.
 */
@FunctionalInterface
public interface Authenticator {
  /**
   * Checks the credentials of one client.
   *
   * @return the answer: completed already, where it needs no waiting for, or completed later by any
   *     thread. Each call has a future of its own, which the caller completes or cancels where it
   *     waits no longer; work that has not begun then should not be
   */
  CompletableFuture<Authentication> authenticate(Credentials credentials);
}
