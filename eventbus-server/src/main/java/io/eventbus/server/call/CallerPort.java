package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.routing.Delivery;

/**
 * The connection of a caller, as calls see it.
 *
 * <p>Each call that {@link CallerConnection#begin} has taken ends with exactly one of these
 * methods, unless {@link CallerConnection#close} comes first. They run on the loop that owns the
 * connection, also from within {@code begin}. An implementation must not block and must not throw;
 * it may begin and cancel calls and close its client.
 */
public interface CallerPort {
  /**
   * A member has replied.
   *
   * @param queuedMicros how long the call was with the bus before a member had it, in microseconds
   * @param handledMicros how long the member worked, in microseconds, as it says
   */
  void reply(long call, long member, int queuedMicros, int handledMicros, Delivery reply);

  /**
   * A member has accepted a stream or tunnel: as {@link #reply}.
   *
   * @param queuedMicros how long the call was with the bus before a member had it, in microseconds
   * @param handledMicros how long the member worked, in microseconds, as it says
   * @param limit how much the caller may send at first
   */
  default void accepted(
      long call, long member, int queuedMicros, int handledMicros, long limit, Delivery reply) {
    throw new UnsupportedOperationException("an end without tunnels");
  }

  /**
   * A member has answered that there is no reply.
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
   * The bus has ended the call without a reply.
   *
   * @param member the number of the member that had the call, 0 for none
   * @param retryAfterMillis when another try may be worth it, 0 for no advice
   */
  void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      String message);

  /** A call that has ended does not count as one in flight any more: no member has it. */
  default void left() {}

  /**
   * The call has found no place soon, and no member had it; only for one that is {@linkplain
   * CallRequest#returnable returnable}.
   */
  default void sendBack(long call) {
    throw new IllegalStateException("call " + call + " is not returnable");
  }

  /**
   * Charges the client with work that it has caused and that comes later.
   *
   * @param nanos how long it took
   */
  default void caused(long nanos) {}
}
