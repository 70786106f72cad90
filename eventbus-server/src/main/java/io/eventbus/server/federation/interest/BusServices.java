package io.eventbus.server.federation.interest;

import io.eventbus.server.federation.lane.Peer;

/**
 * Is told which services other buses serve. Called on the first loop; an implementation must not
 * block and must not throw.
 */
public interface BusServices {
  /** For a bus that calls nobody elsewhere. */
  BusServices NONE =
      new BusServices() {
        @Override
        public void serves(Peer bus, String account, String service, boolean serves) {}

        @Override
        public void abandoned(Peer bus) {}
      };

  /**
   * A bus serves a service from now on, or does not any more. When this returns, calls of every
   * loop find the bus.
   *
   * @param account whose service; empty for the default account
   */
  void serves(Peer bus, String account, String service, boolean serves);

  /** A bus is given up, or has ended. */
  void abandoned(Peer bus);
}
