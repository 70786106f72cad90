package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;

/** Gets what comes of a request, once; called by any thread, must not block. */
interface CallResult {
  void succeed(Response response);

  /**
   * A member has accepted a stream or tunnel, on the connection's thread.
   *
   * @param call the number of the call
   * @param over the connection that it is on
   * @param response what the member has answered
   * @param limit how much it takes at first
   */
  default void accept(long call, CallPath over, Response response, long limit) {
    succeed(response);
  }

  void fail(EventBusException failure);
}
