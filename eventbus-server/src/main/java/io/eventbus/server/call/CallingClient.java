package io.eventbus.server.call;

/**
 * A connection that calls services: made with its first request, by {@link LoopCalls#caller}.
 * Confined to the loop that owns the connection.
 */
public interface CallingClient {
  /**
   * Takes a call. It ends with one method of the {@link CallerEnd}, perhaps before this returns:
   * one that cannot be served fails at once.
   *
   * @param request what is asked for; not needed afterwards
   * @return false if a call with this number has not ended yet; then nothing was done
   */
  boolean begin(CallRequest request);

  /**
   * Ends a call with {@code CANCELLED} and tells its member. One that has ended already, or was
   * never begun, is ignored.
   *
   * <p>A call that a member has counts as one of the connection's until the member answers.
   *
   * @param call the caller's number
   * @param reason for the member's people, at most as long as the caller may make it
   */
  void cancel(long call, String reason);

  /**
   * Returns how many calls count towards the bound of the connection.
   *
   * @return those that have not ended, and those that ended while a member has them still
   */
  int inFlight();

  /**
   * The connection has ended: what waits is given up, members are told that nobody waits for their
   * answers, and the {@link CallerEnd} is not called again. A second call does nothing.
   */
  void close();
}
