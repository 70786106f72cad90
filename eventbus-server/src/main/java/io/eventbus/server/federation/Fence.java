package io.eventbus.server.federation;

import io.eventbus.server.routing.Waiters;

/**
 * Keeps the frames of a topic back until those that went before by other ways have arrived, so that
 * none overtakes another. Any thread.
 */
final class Fence {
  private final Waiters waiters = new Waiters();
  private volatile boolean open;

  void open() {
    open = true;
    waiters.wake();
  }

  boolean isOpen() {
    return open;
  }

  boolean mustWait(Runnable retry) {
    if (open) {
      return false;
    }
    waiters.add(retry);
    if (open) {
      waiters.wake();
    }
    return true;
  }
}
