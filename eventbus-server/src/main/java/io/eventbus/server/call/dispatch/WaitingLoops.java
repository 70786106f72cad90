package io.eventbus.server.call.dispatch;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Set of loops that have calls waiting for the same places. Any thread.
 *
 * <p>A loop sets its bit and then looks for a free place; a thread that releases a place does so
 * and then looks for waiting loops. Both are volatile, so that one of them sees the other, and no
 * place stays free while a call waits for it.
 */
public final class WaitingLoops {
  private final AtomicLongArray bits;
  private final int loops;
  // Loop served last. A lost update only gives a loop two turns in a row.
  private int turn;

  /** Creates an empty set. */
  public WaitingLoops(int loops) {
    this.loops = loops;
    this.bits = new AtomicLongArray((loops + 63) / 64);
  }

  void set(int loop, boolean waits) {
    int word = loop >> 6;
    long bit = 1L << loop;
    long before;
    long after;
    do {
      before = bits.get(word);
      after = waits ? before | bit : before & ~bit;
    } while (!bits.compareAndSet(word, before, after));
  }

  /** Returns whether a loop waits. */
  public boolean any() {
    for (int i = 0; i < bits.length(); i++) {
      if (bits.get(i) != 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns the next waiting loop, in turn; -1 if none waits. */
  int next() {
    int last = turn;
    for (int i = 1; i <= loops; i++) {
      int loop = (last + i) % loops;
      if ((bits.get(loop >> 6) & 1L << loop) != 0) {
        turn = loop;
        return loop;
      }
    }
    return -1;
  }
}
