package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.SendResult;
import io.eventbus.client.WhenFull;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that the {@link Outbox} may hold. Guarded by the outbox's lock, which it waits on.
 *
 * <p>At every moment {@code 0 <= used}, and {@code used <= bufferBytes} unless it is one event
 * alone that is bigger; what was told as dropped is never more than what was dropped.
 */
final class Budget {
  private final ClientOptions.Outbound options;
  private final Condition room;
  private long used;
  private long dropped;
  private long droppedTold;
  private boolean closed;

  Budget(ClientOptions.Outbound options, Lock lock) {
    this.options = options;
    this.room = lock.newCondition();
  }

  /**
   * Takes bytes for an event, waiting for room if that was chosen.
   *
   * @return null if they are taken, or why not
   */
  @Nullable SendResult take(long cost) {
    if (isFull(cost)) {
      SendResult refused = whenFull(cost);
      if (refused != null) {
        return refused;
      }
    }
    if (closed) {
      return SendResult.CLOSED;
    }
    used += cost;
    return null;
  }

  private boolean isFull(long cost) {
    return !closed && used > 0 && used + cost > options.bufferBytes();
  }

  private @Nullable SendResult whenFull(long cost) {
    if (options.whenFull() == WhenFull.FAIL) {
      return SendResult.FULL;
    }
    if (options.whenFull() == WhenFull.DROP) {
      dropped++;
      return SendResult.DROPPED;
    }
    long left = options.blockTimeout().toNanos();
    try {
      while (isFull(cost)) {
        if (left <= 0) {
          return SendResult.FULL;
        }
        left = room.awaitNanos(left);
      }
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return SendResult.FULL;
    }
  }

  void release(long cost) {
    used -= cost;
    assert used >= 0 : "more given back than taken: " + used;
    // Waking a publisher for every message would let it add a few events and sleep again.
    if (cost > 0 && used <= options.bufferBytes() / 2) {
      room.signalAll();
    }
  }

  /** Takes no more; who waits is told. */
  void close() {
    closed = true;
    room.signalAll();
  }

  boolean isClosed() {
    return closed;
  }

  /** Everything is given up. */
  void clear() {
    used = 0;
  }

  long used() {
    return used;
  }

  /** How many events were dropped because there was no room. */
  long dropped() {
    return dropped;
  }

  /** How many of these are new since the last call. */
  long takeDropped() {
    long fresh = dropped - droppedTold;
    droppedTold = dropped;
    return fresh;
  }
}
