package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;

/**
 * Connection of a caller as calls see it.
 *
 * <p>Each call that {@link CallerConnection#begin} has accepted ends with exactly one of these
 * methods, unless {@link CallerConnection#close} comes first. They run on the loop that owns the
 * connection, also from within {@code begin}. An implementation must not block and must not throw;
 * it may begin and cancel calls and close its client.
 */
public interface CallerPort {
  /**
   * Sends a member's reply.
   *
   * @param queuedMicros time that the call was with the bus before a member had it, in microseconds
   * @param handledMicros time that the member worked, in microseconds, by its own account
   */
  void reply(long call, long member, int queuedMicros, int handledMicros, Delivery reply);

  /**
   * Sends the reply of a member that has accepted a stream or tunnel: as {@link #reply}.
   *
   * @param queuedMicros time that the call was with the bus before a member had it, in microseconds
   * @param handledMicros time that the member worked, in microseconds, by its own account
   * @param limit bytes that the caller may send at first
   */
  default void accepted(
      long call, long member, int queuedMicros, int handledMicros, long limit, Delivery reply) {
    throw new UnsupportedOperationException("an end without tunnels");
  }

  /**
   * Sends a member's failure.
   *
   * @param retryAfterMillis as the member said, 0 for no advice
   */
  void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      Delivery failure);

  /**
   * Sends a failure of the bus.
   *
   * @param member number of the member that had the call, 0 for none
   * @param retryAfterMillis milliseconds after which a retry may succeed, 0 for no advice
   */
  void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      String message);

  /** Called when an ended call no longer counts as in flight: no member has it. */
  default void left() {}

  /**
   * Sends a call back that has found no place soon and that no member had; only for a {@linkplain
   * CallRequest#returnable returnable} one.
   */
  default void sendBack(long call) {
    throw new IllegalStateException("call " + call + " is not returnable");
  }

  /**
   * Charges the client for work that it has caused and that is done later.
   *
   * @param nanos duration of the work
   */
  default void chargeWork(long nanos) {}
}
