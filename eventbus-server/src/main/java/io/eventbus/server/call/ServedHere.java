package io.eventbus.server.call;

/**
 * Listener for services that have members at this bus that take calls, to announce them to peers.
 * Called under a lock by any thread; an implementation must not block, must not throw and must not
 * call back.
 */
@FunctionalInterface
public interface ServedHere {
  /** Listener of a bus without peers. */
  ServedHere NOBODY = (service, served) -> {};

  /** Called when the first member of a service has come, or the last one has gone. */
  void servedHere(ServiceKey service, boolean served);
}
