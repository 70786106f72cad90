package io.eventbus.client.internal;

import org.jspecify.annotations.Nullable;

/**
 * Holds the bus back: while the queue of a subscription under BLOCK is full, no more is wanted of
 * the connection, and so the bus's own queue fills up. Any thread may use it.
 *
 * <p>It outlives connections: of a new one nothing is wanted before the queues have room.
 */
final class ReadGate {
  /** What is held back or not. Called under the gate's lock, which orders the calls. */
  interface Reader {
    /** No more is wanted; what is under way may still come. Must not block. */
    void hold();

    /** More is wanted, perhaps as before. Reads in another thread only. Must not block. */
    void goOn();

    /** Ends the connection, because a subscription that must not lose events does not keep up. */
    void tooSlow(String why);
  }

  private int full;
  private @Nullable Reader reader;

  /** This connection is the one to hold back from now on; the one before is over. */
  synchronized void attach(Reader next) {
    reader = next;
    look(next);
  }

  /** Something has come over a connection: tells it how things are, if it is the one. */
  synchronized void look(Reader connection) {
    if (connection != reader) {
      return;
    }
    if (full > 0) {
      connection.hold();
    } else {
      connection.goOn();
    }
  }

  /** Whether no more is wanted because the application has not taken what came. */
  synchronized boolean isHolding() {
    return full > 0;
  }

  /** A queue is full; {@link #hasRoom} has to follow. */
  synchronized void isFull() {
    if (full++ == 0 && reader != null) {
      reader.hold();
    }
  }

  /** A subscription under DISCONNECT does not keep up. */
  synchronized void tooSlow(String why) {
    if (reader != null) {
      reader.tooSlow(why);
    }
  }

  /** A queue that was full is not any more. */
  synchronized void hasRoom() {
    if (--full == 0 && reader != null) {
      reader.goOn();
    }
  }
}
