package io.eventbus.loadtest.attack.wire;

import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;

/**
 * Amount that a connection reads at a time, which can be changed while it is open: a channel asks
 * for another allocator only before its first read. Confined to the connection's event loop.
 */
final class AttackPace extends DefaultMaxMessagesRecvByteBufAllocator {
  private static final int USUAL = 32 * 1024;
  private static final int USUAL_READS = 16;

  private int octets = USUAL;

  AttackPace() {
    super(USUAL_READS);
  }

  /** From now on a read takes at most so much, and is one call to the system. */
  void atMost(int max) {
    octets = max;
    maxMessagesPerRead(1);
  }

  /** From now on as at the beginning. */
  void usual() {
    octets = USUAL;
    maxMessagesPerRead(USUAL_READS);
  }

  // The interface's own return type is deprecated, and what asks casts to the newer one.
  @SuppressWarnings("deprecation")
  @Override
  public RecvByteBufAllocator.Handle newHandle() {
    return new MaxMessageHandle() {
      @Override
      public int guess() {
        return octets;
      }
    };
  }
}
