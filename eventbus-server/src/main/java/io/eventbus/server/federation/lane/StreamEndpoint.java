package io.eventbus.server.federation.lane;

/** End of the connection of a lane at this bus. Confined to its loop. */
public interface StreamEndpoint {
  /** Returns the times of the last signs of life in both directions. */
  Keepalive keepalive();

  /** Sends a keepalive. */
  void sendKeepalive();

  /** Closes the connection. */
  void close();
}
