package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.routing.Delivery;

/**
 * The connection of a caller that sends requests to all members of a service.
 *
 * <p>What {@link CallerPort} says of its methods holds here, too, but that a request ends with the
 * first call that has {@code more} false, and that a request must not be begun from within.
 */
public interface GatherPort {
  /**
   * A member has replied.
   *
   * @param queuedMicros how long the request was with the bus before the member had it
   * @param handledMicros how long the member worked, in microseconds, as it says
   */
  void reply(
      long call, long member, int queuedMicros, int handledMicros, boolean more, Delivery reply);

  /** A member has answered that there is no reply. */
  void failure(long call, long member, boolean more, Delivery failure);

  /**
   * The bus has ended the request, or the part of one member, without a reply.
   *
   * @param member the number of the member, 0 for the whole request
   * @param retryAfterMillis when another try may be worth it, 0 for no advice
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
   * Says whether a request to so many members is more than the caller may have; then it has been
   * told.
   *
   * @return true if it is not to be sent
   */
  default boolean refuses(long call, int members) {
    return false;
  }

  /** A member has the call of a request no more; {@link GatheringClient#inFlight}. */
  default void left() {}

  /**
   * Charges the client with work that it has caused and that comes later.
   *
   * @param nanos how long it took
   */
  default void caused(long nanos) {}
}
