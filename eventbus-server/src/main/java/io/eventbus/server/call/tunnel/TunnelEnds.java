package io.eventbus.server.call.tunnel;

import io.eventbus.server.delivery.Delivery;

/**
 * Connection as its ends of tunnels see it. The methods run on the loop that owns the connection.
 * An implementation must not block and must not throw; if memory is short it closes its connection,
 * and calls {@link TunnelClient#close} in a later task of the loop.
 */
public interface TunnelEnds {
  /**
   * Creates a {@code Data} for another connection, with one reference. Returns null if there is no
   * memory; then the connection ends.
   *
   * @param offset offset of the frame's first byte
   * @param payload bytes of payload of the current frame
   */
  @org.jspecify.annotations.Nullable
  Delivery data(long to, long offset, boolean more, boolean last, int payload);

  /** Sends a frame after the other frames of tunnels. */
  void send(Delivery frame);

  /** Sends the client credit. */
  void credit(long call, long limit, long received);

  /** Called when {@link TunnelClient#opened} has changed. */
  default void openedOrLeft() {}

  /**
   * Notifies the client that the other end has ended the tunnel, after everything that was sent to
   * it.
   *
   * @param call its number for the tunnel: negative for a member, which gets {@code Cancel} if no
   *     {@code Failure} was sent
   */
  void ended(long call, TunnelEnding end);
}
