package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/**
 * Sees every request that a client makes and every one that it answers, for tracing for instance.
 * Must be safe for any number of threads; what it throws fails the request.
 */
public interface CallInterceptor {
  /**
   * Called before a request is sent for the first time, in the thread that makes it.
   *
   * @param service whom it is for
   * @param options how it is made
   * @param event what it holds
   * @return what is sent: the same event, or one with more headers
   */
  default Event beforeSend(String service, RequestOptions options, Event event) {
    return event;
  }

  /**
   * Called in place of the handler of a service, in its thread; has to call it.
   *
   * @param invocation the request
   * @param handler what answers it
   * @return the handler's stage, or one that depends on it
   * @throws Exception what the handler throws
   */
  default CompletionStage<Event> aroundHandler(Invocation invocation, RequestHandler handler)
      throws Exception {
    return handler.onRequest(invocation);
  }
}
