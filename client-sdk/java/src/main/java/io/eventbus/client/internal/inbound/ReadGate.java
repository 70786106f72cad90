package io.eventbus.client.internal.inbound;

import org.jspecify.annotations.Nullable;

/**
 * Gate that stalls the bus: while the queue of a subscription under BLOCK is full, the connection
 * is not asked for more, and so the bus's own queue fills up. Any thread may use it.
 *
 * <p>It outlives connections: a new one is asked for nothing before the queues have room.
 */
public final class ReadGate {
  /** Connection that is stalled or not. Called under the gate's lock, which orders the calls. */
  public interface Reader {
    /** Stops the deliveries; what is under way may still come. Must not block. */
    void stall();

    /**
     * Resumes the deliveries, if they were stopped. Reads in another thread only. Must not block.
     */
    void resume();

    /** Ends the connection, because a subscription that must not lose events does not keep up. */
    void tooSlow(String why);
  }

  private int full;
  private @Nullable Reader reader;

  /** Gates this connection from now on, instead of the one before. */
  synchronized void attach(Reader next) {
    reader = next;
    apply(next);
  }

  /** Stalls or resumes a connection over which something has come, if it is the present one. */
  synchronized void apply(Reader connection) {
    if (connection != reader) {
      return;
    }
    if (full > 0) {
      connection.stall();
    } else {
      connection.resume();
    }
  }

  /** Returns whether the bus is stalled because the application has not consumed what came. */
  synchronized boolean isStalling() {
    return full > 0;
  }

  /** Counts a queue that is full; {@link #onRoom} has to follow. */
  synchronized void onFull() {
    if (full++ == 0 && reader != null) {
      reader.stall();
    }
  }

  /** Ends the connection, because a subscription under DISCONNECT does not keep up. */
  synchronized void tooSlow(String why) {
    if (reader != null) {
      reader.tooSlow(why);
    }
  }

  /** Counts a queue that is no longer full. */
  synchronized void onRoom() {
    if (--full == 0 && reader != null) {
      reader.resume();
    }
  }
}
