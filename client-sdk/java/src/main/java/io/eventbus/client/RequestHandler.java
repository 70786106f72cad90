package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/** Handler of the requests to a service. */
@FunctionalInterface
public interface RequestHandler {
  /**
   * Answers a request. Called on the client's executor, at most {@link ServiceOptions#concurrency}
   * times at once, where a call lasts until its stage is complete; it may block.
   *
   * <p>To refuse, throw or complete the stage with {@link EventBusException.CallFailed.Rejected},
   * which reaches the caller unchanged. Of any other exception the caller is told its class only,
   * and {@link ConnectionListener#requestFailed} is called.
   *
   * @param invocation the request
   * @return a stage that completes with the answer
   * @throws Exception for "failed", as above
   */
  CompletionStage<Event> onRequest(Invocation invocation) throws Exception;
}
