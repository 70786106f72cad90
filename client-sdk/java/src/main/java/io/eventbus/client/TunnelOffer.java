package io.eventbus.client;

/** Offer of a tunnel by a caller to this member. For the thread of the handler. */
public interface TunnelOffer {
  /**
   * Returns the call, with its caller and event.
   *
   * @return the call
   */
  Invocation invocation();

  /**
   * Opens the tunnel.
   *
   * @param answer the event that the caller gets as {@link Tunnel#opening}
   * @return the tunnel; if the caller has gone meanwhile, one that has ended
   * @throws IllegalStateException if it was accepted already
   * @throws EventBusException.PayloadTooBig if the answer exceeds a limit of the bus
   */
  Tunnel accept(Event answer);

  /**
   * Opens the tunnel with an empty answer.
   *
   * @return as above
   */
  default Tunnel accept() {
    return accept(Event.of(new byte[0]));
  }
}
