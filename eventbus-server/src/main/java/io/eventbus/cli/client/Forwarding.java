package io.eventbus.cli.client;

import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelHandler;
import io.eventbus.client.TunnelOffer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;

/** Forwarder of tunnels to a TCP address. */
final class Forwarding implements TunnelHandler {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  private final String host;
  private final int port;
  private final TunnelPipe pipe;
  private final Runnable done;

  private Forwarding(String host, int port, TunnelPipe pipe, Runnable done) {
    this.host = host;
    this.port = port;
    this.pipe = pipe;
    this.done = done;
  }

  /**
   * Creates a forwarder.
   *
   * @throws IllegalArgumentException if the text is no such address
   */
  static Forwarding to(String address, TunnelPipe pipe, Runnable done) {
    int colon = address.lastIndexOf(':');
    String host = colon < 0 ? "" : address.substring(0, colon).replaceAll("^\\[(.*)]$", "$1");
    int port = TunnelCommand.port(colon < 0 ? "" : address.substring(colon + 1));
    if (host.isEmpty() || port < 1) {
      throw new IllegalArgumentException(
          "--forward: " + address + " (expected: HOST:PORT, with a port from 1 to 65535)");
    }
    return new Forwarding(host, port, pipe, done);
  }

  @Override
  public void onTunnel(TunnelOffer offer) {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(host, port), (int) CONNECT_TIMEOUT.toMillis());
      socket.setTcpNoDelay(true);
    } catch (IOException e) {
      TunnelPipe.close(socket);
      throw Rejected.refused("the member cannot connect: " + e.getMessage(), Duration.ZERO);
    }
    Tunnel tunnel = offer.accept();
    pipe.join(tunnel, socket, done);
  }
}
