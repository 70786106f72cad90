package io.eventbus.journal.store;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Count of the users of a store. Its memory lies outside of the heap: closing it while it is read
 * ends the process. Any thread.
 */
final class Leases {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition none = lock.newCondition();
  private int open;
  private boolean closed;

  /** Returns false if the store is being closed. */
  boolean acquire() {
    lock.lock();
    try {
      if (!closed) {
        open++;
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  void release() {
    lock.lock();
    try {
      open--;
      if (open == 0) {
        none.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Refuses everybody from now on. */
  void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many there are. */
  int open() {
    lock.lock();
    try {
      return open;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there are none, and returns whether that was so in time. */
  boolean awaitNone(Duration timeout) throws InterruptedException {
    long left = timeout.toNanos();
    lock.lock();
    try {
      while (open > 0 && left > 0) {
        left = none.awaitNanos(left);
      }
      return open == 0;
    } finally {
      lock.unlock();
    }
  }
}
