package io.eventbus.client;

import java.util.concurrent.Flow;

/** Handler that answers requests to a service with any number of events. */
@FunctionalInterface
public interface StreamHandler {
  /**
   * Answers a request. Called on the client's executor; it may block. Exceptions are as with {@link
   * TunnelHandler#onTunnel}.
   *
   * @param invocation the request
   * @return publishes the events to one subscriber, which asks for as many as the caller accepts.
   *     Its end or failure reaches the caller behind them
   * @throws Exception for "failed"
   */
  Flow.Publisher<Event> onStream(Invocation invocation) throws Exception;
}
