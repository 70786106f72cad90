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

  /** The first member of a service has come, or the last one has gone. */
  void servedHere(ServiceKey service, boolean served);
}
