package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.schema.Welcome;
import io.netty.buffer.ByteBuf;

/**
 * Sends the same bytes on each connection when it is welcomed, and nothing more.
 *
 * @param bytes stay the caller's
 */
record Says(ByteBuf bytes) implements AttackPeer {
  @Override
  public void welcomed(AttackWire wire, Welcome welcome) {
    wire.send(bytes.retainedDuplicate());
  }
}
