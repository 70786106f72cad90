package io.eventbus.client.internal;

import org.jspecify.annotations.Nullable;

/**
 * Holds the bus back: while a subscription's queue is full, the connection is not read, and so the
 * bus's own queue fills up, where the overflow policy decides. Any thread may use it.
 *
 * <p>It outlives connections: a new one is not read before the queues have room.
 */
final class ReadGate {
  /** What is read or not. */
  interface Reader {
    /** Stops reading; what was read already may still come. Must not block. */
    void pause();

    /** Goes on reading, in another thread. Must not block. */
    void resume();
  }

  private int full;
  private @Nullable Reader reader;

  /** This connection is the one to hold back from now on; the one before is over. */
  synchronized void attach(Reader next) {
    reader = next;
    if (full > 0) {
      next.pause();
    }
  }

  /** Whether the connection is not read because the application has not taken what came. */
  synchronized boolean isHolding() {
    return full > 0;
  }

  /** A queue is full; {@link #hasRoom} has to follow. */
  synchronized void isFull() {
    if (full++ == 0 && reader != null) {
      reader.pause();
    }
  }

  /** A queue that was full is not any more. */
  synchronized void hasRoom() {
    if (--full == 0 && reader != null) {
      reader.resume();
    }
  }
}
