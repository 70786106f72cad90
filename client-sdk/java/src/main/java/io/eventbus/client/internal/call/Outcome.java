package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;

/** Gets what comes of a request, once; called by any thread, must not block. */
interface Outcome {
  void succeed(Response response);

  void fail(EventBusException failure);
}
