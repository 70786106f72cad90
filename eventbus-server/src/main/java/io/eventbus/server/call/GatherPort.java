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
   * @param call the caller's number
   * @param member the number of the member
   * @param queuedMicros how long the request was with the bus before the member had it
   * @param handledMicros how long the member worked, in microseconds, as it says
   * @param more whether further answers come
   * @param reply what {@link MemberConnection#reply} was given; who keeps it retains it
   */
  void reply(
      long call, long member, int queuedMicros, int handledMicros, boolean more, Delivery reply);

  /**
   * A member has answered that there is no reply.
   *
   * @param call the caller's number
   * @param member the number of the member
   * @param more whether further answers come
   * @param failure what {@link MemberConnection#failure} was given; who keeps it retains it
   */
  void failure(long call, long member, boolean more, Delivery failure);

  /**
   * The bus has ended the request, or the part of one member, without a reply.
   *
   * @param call the caller's number
   * @param member the number of the member, 0 for the whole request
   * @param code why
   * @param executed whether the member has begun with it
   * @param retryAfterMillis when another try may be worth it, 0 for no advice
   * @param more whether further answers come
   * @param message for people: what was wrong and what was expected; without the service's name
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
   * @param call the caller's number
   * @param members how many would be asked
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
