package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/**
 * Interceptor of every request that a client makes and every one that it answers, for tracing for
 * instance. Must be safe for any number of threads; an exception from it fails the request.
 */
public interface CallInterceptor {
  /**
   * Called before a request is sent for the first time, in the thread that makes it.
   *
   * @param service the service that is called
   * @param options the options of the request
   * @param event the event of the request
   * @return the event to send: the same, or one with more headers
   */
  default Event beforeSend(String service, RequestOptions options, Event event) {
    return event;
  }

  /**
   * Called in place of the handler of a service, in its thread; has to call it.
   *
   * @param invocation the request
   * @param handler the service's handler
   * @return the handler's stage, or one that depends on it
   * @throws Exception whatever the handler throws
   */
  default CompletionStage<Event> aroundHandler(Invocation invocation, RequestHandler handler)
      throws Exception {
    return handler.onRequest(invocation);
  }
}
