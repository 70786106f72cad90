package io.eventbus.server.call.tunnel;

import io.eventbus.server.routing.Delivery;

/**
 * A connection that has ends of tunnels, as these see it. The methods run on the loop that owns the
 * connection. An implementation must not block and must not throw; one for which there is no memory
 * ends its connection, and tells {@link TunnelClient#close} of it in a later task of the loop.
 */
public interface TunnelEnds {
  /**
   * Makes a {@code Data} for another connection.
   *
   * @param offset where the frame begins
   * @param payload bytes of payload, of the frame that is being read
   * @return the frame, with one reference; null if there is no memory, and the connection ends
   */
  @org.jspecify.annotations.Nullable
  Delivery data(long to, long offset, boolean more, boolean last, int payload);

  /** Sends a frame behind the others of tunnels. */
  void send(Delivery frame);

  /** Tells the client how much it may send. */
  void credit(long call, long limit, long received);

  /** Notes that {@link TunnelClient#opened} has changed. */
  default void openedOrLeft() {}

  /**
   * Tells the client that the other end has ended the tunnel, behind all that was sent to it.
   *
   * @param call its number for the tunnel: negative for a member, which is told with {@code Cancel}
   *     if nobody has sent a {@code Failure}
   */
  void ended(long call, TunnelEnding end);
}
