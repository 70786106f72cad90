package io.eventbus.loadtest.attack.wire;

import io.eventbus.schema.Welcome;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/**
 * Behaviour of a program on a connection. Every method is called on the connection's event loop and
 * must not block.
 */
public interface AttackPeer {
  /** The code of {@link #closed} for a connection that ended without a Close frame. */
  int NO_CLOSE = 1006;

  /** The TCP connection, with TLS where there is any, is there. */
  default void connected(AttackWire wire) {}

  /** The upgrade was answered with 101. */
  default void upgraded(AttackWire wire) {}

  /** The bus has let the client in. */
  default void welcomed(AttackWire wire, Welcome welcome) {}

  /**
   * Returns whether the messages of the bus are taken apart after {@code Welcome}.
   *
   * @return false to have them only counted
   */
  default boolean reads() {
    return false;
  }

  /**
   * A frame has come, other than {@code Welcome}.
   *
   * @param to the index after its last one
   */
  default void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {}

  /**
   * Octets of a connection without a request have come, or of the answer to one that was no
   * upgrade.
   */
  default void octets(AttackWire wire, ByteBuf octets) {}

  /** More can be sent. */
  default void writable(AttackWire wire) {}

  /** The connection has ended. */
  default void closed(AttackWire wire, int code) {}
}
