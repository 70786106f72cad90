package io.eventbus.server.call;

/**
 * Is told which services have members at this bus that take calls, so that other buses can be.
 * Called under a lock by any thread; an implementation must not block, must not throw and must not
 * call back.
 */
@FunctionalInterface
public interface ServedHere {
  /** For a bus without others. */
  ServedHere NOBODY = (service, served) -> {};

  /**
   * The first member of a service has come, or the last one has gone.
   *
   * @param service the service
   * @param served whether a member takes calls from now on
   */
  void servedHere(ServiceKey service, boolean served);
}
