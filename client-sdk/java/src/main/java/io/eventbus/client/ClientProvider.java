package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/**
 * Factory of clients. The SDK's own provider is found with {@link java.util.ServiceLoader}, so that
 * this package depends on nothing that implements it; applications use {@link
 * EventBusClient#builder}.
 *
 * <p>An implementation must not block in {@link #connect} and must complete the stage within {@link
 * ClientOptions.Connection#connectTimeout}.
 */
public interface ClientProvider {
  /**
   * Creates a client and its first connection.
   *
   * @param options the checked settings
   * @return a stage that completes with a connected client, or with an {@link EventBusException}
   */
  CompletionStage<EventBusClient> connect(ClientOptions options);
}
