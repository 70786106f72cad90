package io.eventbus.server.call.tunnel;

import java.util.function.BooleanSupplier;

/**
 * Memory of one connection for all of its tunnels, in bytes: credit given to senders is reserved
 * here until their frames are written, so that more can never wait. Confined to its loop.
 *
 * <p>A tunnel gets at most half of the rest ("dynamic thresholds"): none uses up all, and there is
 * always something for the next one.
 */
final class TunnelRoom {
  private final TunnelSettings settings;
  private final BooleanSupplier shortOfMemory;
  // In addition to the minimum of each tunnel; 0 <= held <= settings.shared().
  private long held;

  TunnelRoom(TunnelSettings settings, BooleanSupplier shortOfMemory) {
    this.settings = settings;
    this.shortOfMemory = shortOfMemory;
  }

  long minBytes() {
    return settings.minBytes();
  }

  /** Returns how far a tunnel may be ahead, given its wanted and current distance. */
  long fit(long wanted, long ahead) {
    long minBytes = settings.minBytes();
    if (shortOfMemory.getAsBoolean()) {
      return minBytes;
    }
    long own = Math.max(0, ahead - minBytes);
    long free = settings.shared() - held + own;
    return Math.min(Math.min(wanted, settings.windowBytes()), minBytes + free / 2);
  }

  /** Changes the reservation of one tunnel. */
  void change(long before, long after) {
    held += after - before;
    assert held >= 0 && held <= settings.shared() : held;
  }

  long held() {
    return held;
  }
}
