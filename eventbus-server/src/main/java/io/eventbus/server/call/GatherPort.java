package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;

/**
 * Connection of a caller that sends requests to all members of a service.
 *
 * <p>The rules of {@link CallerPort} hold here, too, but a request ends with the first call that
 * has {@code more} false, and a request must not be begun from within.
 */
public interface GatherPort {
  /**
   * Sends a member's reply.
   *
   * @param queuedMicros time that the request was with the bus before the member had it, in
   *     microseconds
   * @param handledMicros time that the member worked, in microseconds, by its own account
   */
  void reply(
      long call, long member, int queuedMicros, int handledMicros, boolean more, Delivery reply);

  /** Sends a member's failure. */
  void failure(long call, long member, boolean more, Delivery failure);

  /**
   * Sends a failure of the bus for the request, or for the part of one member.
   *
   * @param member number of the member, 0 for the whole request
   * @param retryAfterMillis milliseconds after which a retry may succeed, 0 for no advice
   */
  void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      boolean more,
      String message);

  /**
   * Returns whether a request to this many members is more than the caller may have; then it has
   * been refused and must not be sent.
   */
  default boolean refuses(long call, int members) {
    return false;
  }

  /** Called when a member no longer has the call of a request; {@link GatheringClient#inFlight}. */
  default void left() {}

  /**
   * Charges the client for work that it has caused and that is done later.
   *
   * @param nanos duration of the work
   */
  default void chargeWork(long nanos) {}
}
