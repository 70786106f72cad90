package io.eventbus.client;

/** A caller that wants a tunnel to this member. For the thread of the handler. */
public interface TunnelOffer {
  /**
   * Returns who calls, and with what.
   *
   * @return the call
   */
  Invocation invocation();

  /**
   * Opens the tunnel.
   *
   * @param answer what the caller gets as {@link Tunnel#opening}
   * @return the tunnel; if the caller has gone meanwhile, one that has ended
   * @throws IllegalStateException if it was accepted already
   * @throws EventBusException.PayloadTooBig if the answer is over a limit of the bus
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
