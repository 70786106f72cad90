package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.schema.Welcome;
import io.netty.buffer.ByteBuf;
import java.util.function.Supplier;

/** Sends as fast as the socket takes it. On one event loop. */
final class Flood implements AttackPeer {
  /** After so many the other connections of the loop have their turn. */
  private static final int TURN = 16;

  private final Supplier<ByteBuf> next;
  private final boolean early;
  private boolean begun;

  /**
   * Prepares one.
   *
   * @param early from the upgrade on, not from {@code Welcome}
   */
  Flood(Supplier<ByteBuf> next, boolean early) {
    this.next = next;
    this.early = early;
  }

  /** Sends one buffer again and again. */
  static Flood of(ByteBuf shared, boolean early) {
    return new Flood(shared::retainedDuplicate, early);
  }

  @Override
  public void upgraded(AttackWire wire) {
    if (early) {
      begun = true;
      pump(wire);
    }
  }

  @Override
  public void welcomed(AttackWire wire, Welcome welcome) {
    if (!early) {
      begun = true;
      pump(wire);
    }
  }

  @Override
  public void writable(AttackWire wire) {
    if (begun) {
      pump(wire);
    }
  }

  private void pump(AttackWire wire) {
    for (int i = 0; i < TURN && wire.isWritable(); i++) {
      wire.send(next.get());
    }
    if (wire.isWritable()) {
      wire.after(0, () -> pump(wire));
    }
  }
}
