package io.eventbus.loadtest.attack.honest;

import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.run.Ticker;
import io.eventbus.loadtest.run.UniformRate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * A socket to another process, without the bus, which sends back what comes: what the machine does
 * to everybody. On one event loop.
 */
final class Control implements AttackPeer {
  private final int perSecond;
  private final Phases phases;
  private final ByteBuf rest = Unpooled.buffer(Long.BYTES);

  Control(int perSecond, Phases phases) {
    this.perSecond = perSecond;
    this.phases = phases;
  }

  @Override
  public void connected(AttackWire wire) {
    UniformRate rate = new UniformRate(Ticker.SYSTEM, System.nanoTime(), perSecond, 1, 0);
    next(wire, rate, rate.next());
  }

  private void next(AttackWire wire, UniformRate rate, long at) {
    wire.afterNanos(
        Math.max(0, at - System.nanoTime()),
        () -> {
          wire.send(Unpooled.buffer(Long.BYTES).writeLong(at));
          next(wire, rate, rate.next());
        });
  }

  @Override
  public void octets(AttackWire wire, ByteBuf octets) {
    while (octets.isReadable()) {
      rest.writeByte(octets.readByte());
      if (rest.readableBytes() == Long.BYTES) {
        phases.record(rest.readLong(), System.nanoTime());
        rest.clear();
      }
    }
  }
}
