package io.eventbus.server.security;

import java.util.concurrent.CompletableFuture;

/**
 * Authenticator of clients.
 *
 * <p>An implementation is called on event loops, several at a time: it must not block, because all
 * clients of a loop would wait, and should not throw. An exception, also one that completes the
 * future, counts as {@link Authentication.Unavailable} and is logged, so it holds no secrets. Work
 * of more than microseconds belongs on threads of its own, with a bound on what waits for them.
 */
@FunctionalInterface
public interface Authenticator {
  /**
   * Checks the credentials of one client.
   *
   * @return a future of its own for each call: complete already, or completed later by any thread.
   *     The caller completes or cancels it if it no longer waits; work that has not begun then
   *     should not begin
   */
  CompletableFuture<Authentication> authenticate(Credentials credentials);
}
