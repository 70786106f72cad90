package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.wire.Peer;
import io.eventbus.loadtest.attack.wire.Wire;
import io.eventbus.schema.Welcome;
import io.netty.buffer.ByteBuf;

/**
 * Sends the same bytes on each connection when it is welcomed, and nothing more.
 *
 * @param bytes stay the caller's
 */
record Says(ByteBuf bytes) implements Peer {
  @Override
  public void welcomed(Wire wire, Welcome welcome) {
    wire.send(bytes.retainedDuplicate());
  }
}
