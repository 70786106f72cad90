package io.eventbus.server.federation.lane;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Callbacks that wait until everything that was offered to a lane before is acknowledged. Confined
 * to the lane's loop.
 */
final class AckWaiters {
  private record Waiting(long sequence, Runnable done) {}

  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private long askedFor;

  /** Adds a callback for everything up to this frame, which is not before any other's. */
  void add(long sequence, Runnable done) {
    waiting.add(new Waiting(sequence, done));
  }

  /**
   * Returns whether to request an early acknowledgement, because the last callback waits for sent
   * frames.
   */
  boolean mustAsk(long sent) {
    Waiting newest = waiting.peekLast();
    if (newest == null || newest.sequence() <= askedFor || newest.sequence() > sent) {
      return false;
    }
    askedFor = sent;
    return true;
  }

  /** Forgets earlier requests, because the connection is another one. */
  void askAgain() {
    askedFor = 0;
  }

  /** Runs the callbacks for frames before this one, which are acknowledged or lost. */
  void runBefore(long first) {
    for (Waiting w = waiting.peek(); w != null && w.sequence() < first; w = waiting.peek()) {
      waiting.remove();
      w.done().run();
    }
  }
}
