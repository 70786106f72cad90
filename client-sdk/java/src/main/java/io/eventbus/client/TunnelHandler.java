package io.eventbus.client;

/** Handler of the tunnels that callers open to a service. */
@FunctionalInterface
public interface TunnelHandler {
  /**
   * Accepts or refuses a tunnel. Called on the client's executor; it may block, and may go on using
   * the tunnel after it has returned.
   *
   * <p>To refuse, throw {@link EventBusException.CallFailed.Rejected}, which reaches the caller
   * unchanged. Of any other exception the caller is told its class only, and {@link
   * ConnectionListener#requestFailed} is called. An offer that was not accepted when this returns
   * is refused; an exception after it was accepted resets the tunnel.
   *
   * @param offer the caller's request for a tunnel
   * @throws Exception as above
   */
  void onTunnel(TunnelOffer offer) throws Exception;
}
