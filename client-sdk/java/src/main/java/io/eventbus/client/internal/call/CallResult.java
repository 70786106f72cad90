package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;

/** Gets what comes of a request, once; called by any thread, must not block. */
interface CallResult {
  void succeed(Response response);

  /** A member has accepted a stream or tunnel, on the connection's thread. */
  default void accept(long call, CallPath over, Response response, long limit) {
    succeed(response);
  }

  void fail(EventBusException failure);
}
