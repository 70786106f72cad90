package io.eventbus.server.call.tunnel;

import java.util.function.BooleanSupplier;

/**
 * What may be sent to one connection by way of all of its tunnels, in bytes: what is told to
 * senders is held here until it is written, so that no more can ever wait. Confined to its loop.
 *
 * <p>A tunnel gets at most half of what is left ("dynamic thresholds"): none takes all, and there
 * is always something for the next one.
 */
final class TunnelRoom {
  private final TunnelSettings settings;
  private final BooleanSupplier shortOfMemory;
  // Beyond the least of each tunnel; 0 <= held <= settings.shared().
  private long held;

  TunnelRoom(TunnelSettings settings, BooleanSupplier shortOfMemory) {
    this.settings = settings;
    this.shortOfMemory = shortOfMemory;
  }

  long least() {
    return settings.least();
  }

  /** How far a tunnel may be ahead that would like to be so far, and is so far already. */
  long fit(long wanted, long ahead) {
    long least = settings.least();
    if (shortOfMemory.getAsBoolean()) {
      return least;
    }
    long own = Math.max(0, ahead - least);
    long free = settings.shared() - held + own;
    return Math.min(Math.min(wanted, settings.windowBytes()), least + free / 2);
  }

  /** One tunnel holds so much more or less. */
  void change(long before, long after) {
    held += after - before;
    assert held >= 0 && held <= settings.shared() : held;
  }

  long held() {
    return held;
  }
}
