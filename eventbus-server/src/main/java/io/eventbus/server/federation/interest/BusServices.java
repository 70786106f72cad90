package io.eventbus.server.federation.interest;

import io.eventbus.server.federation.lane.Peer;

/**
 * Listener for services of peers. Called on the first loop; an implementation must not block and
 * must not throw.
 */
public interface BusServices {
  /** Listener of a bus that calls no peers. */
  BusServices NONE =
      new BusServices() {
        @Override
        public void serves(Peer bus, String account, String service, boolean serves) {}

        @Override
        public void abandoned(Peer bus) {}
      };

  /**
   * Called when a peer starts or ceases to serve a service. When this returns, calls of every loop
   * find the peer.
   *
   * @param account account of the service; empty for the default account
   */
  void serves(Peer bus, String account, String service, boolean serves);

  /** Called when a peer is given up, or has ended. */
  void abandoned(Peer bus);
}
