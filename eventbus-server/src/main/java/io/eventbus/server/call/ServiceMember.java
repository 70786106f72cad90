package io.eventbus.server.call;

/**
 * One connection's membership in one service. Confined to the loop that owns the connection, but
 * for what says otherwise.
 */
public interface ServiceMember {
  /**
   * Changes how many calls the client works on at once.
   *
   * @param concurrency 0: no new calls until it is changed again
   */
  void capacity(int concurrency);

  /**
   * Leaves the service. From the return of this method on, {@link MemberEnd#invoke} is not called
   * for it: {@code Drained} may be sent. Calls that the client has already go on. A second call
   * does nothing.
   */
  void unregister();

  /**
   * Returns how many calls the client has been given and has not answered, cancelled ones included.
   *
   * @return at least 0
   */
  int unanswered();
}
