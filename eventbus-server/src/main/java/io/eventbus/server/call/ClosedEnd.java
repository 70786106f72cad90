package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;

/** Port of a connection that has ended: every result is discarded. */
class ClosedEnd implements CallerPort {
  @Override
  public void reply(long call, long member, int queuedMicros, int handledMicros, Delivery reply) {}

  @Override
  public void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      Delivery failure) {}

  @Override
  public void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      String message) {}

  @Override
  public void sendBack(long call) {}
}
