package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;

/** Receiver of the result of a request; called once, by any thread, must not block. */
interface CallResult {
  void succeed(Response response);

  /** Called when a member has accepted a stream or tunnel, on the connection's thread. */
  default void accept(long call, CallPath over, Response response, long limit) {
    succeed(response);
  }

  void fail(EventBusException failure);
}
