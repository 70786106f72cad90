package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/**
 * Supplier of the tokens that a client authenticates with, from their issuer.
 *
 * <p>Asked for each connection, for each move to another bus, and while a connection lasts before
 * its token expires. Never called on an I/O thread, but where handlers run ({@link
 * ClientBuilder#executor}), so that it may block. A late call is not waited for, so that the next
 * one can come while it lasts.
 */
@FunctionalInterface
public interface TokenSupplier {
  /**
   * Begins to get a token.
   *
   * @return completes with 1 to 16,384 bytes of UTF-8, by any thread, within {@link
   *     ClientBuilder#connectTimeout}; a token that may expire soon is asked for again soon. If it
   *     fails, or this method throws, {@link ConnectionListener#problem} is told ({@link
   *     EventBusException.NoToken}), and the client asks again after a pause. The exception's text
   *     is reported too, so it should hold no secrets
   */
  CompletionStage<String> token();
}
