package io.eventbus.server.federation.lane;

import io.eventbus.server.routing.WakeupList;

/**
 * Keeps publishers back until it opens, which it does once: at the start of the bus, or where
 * frames of a topic must not overtake those that went before by other lanes. Any thread.
 */
public final class OneShotLatch {
  private final WakeupList waiters = new WakeupList();
  private volatile boolean open;

  /** Opens it for good, and runs what waits. */
  public void open() {
    open = true;
    waiters.wake();
  }

  /** Whether it is open. */
  public boolean isOpen() {
    return open;
  }

  /** Whether it is closed; then the task is run when it opens, by the thread that opens it. */
  public boolean mustWait(Runnable retry) {
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
