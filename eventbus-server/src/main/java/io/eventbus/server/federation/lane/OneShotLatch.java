package io.eventbus.server.federation.lane;

import io.eventbus.server.memory.WakeupList;

/**
 * Latch that makes publishers wait until it opens, once: at the start of the bus, or if frames of a
 * topic must not overtake earlier ones on other lanes. Any thread.
 */
public final class OneShotLatch {
  private final WakeupList waiters = new WakeupList();
  private volatile boolean open;

  /** Opens the latch for good, and runs the waiting tasks. */
  public void open() {
    open = true;
    waiters.wake();
  }

  public boolean isOpen() {
    return open;
  }

  /**
   * Returns whether it is closed; then the task is run when it opens, by the thread that opens it.
   */
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
