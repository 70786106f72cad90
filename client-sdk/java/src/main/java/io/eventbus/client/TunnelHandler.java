package io.eventbus.client;

/** Takes the tunnels that callers open to a service. */
@FunctionalInterface
public interface TunnelHandler {
  /**
   * Accepts a tunnel, or does not. Called on the client's executor; it may block, and may go on
   * using the tunnel after it has returned.
   *
   * <p>To refuse, throw {@link EventBusException.CallFailed.Rejected}, which reaches the caller as
   * it is. Of any other exception the caller learns its class and no more, and {@link
   * ConnectionListener#requestFailed} is told. An offer that was not accepted when this returns is
   * refused; an exception after it was accepted resets the tunnel.
   *
   * @param offer who wants a tunnel
   * @throws Exception as above
   */
  void onTunnel(TunnelOffer offer) throws Exception;
}
