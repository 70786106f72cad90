package io.eventbus.server.federation.lane;

/** This bus's end of the connection of a lane. Confined to its loop. */
public interface StreamEndpoint {
  /** When it was last heard of the other end, and the other end of it. */
  Keepalive signs();

  /** Says that this bus lives. */
  void showLife();

  /** Ends the connection. */
  void close();
}
