package io.eventbus.client.internal.outbound;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.SendResult;
import io.eventbus.client.WhenFull;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Number of bytes that the {@link Outbox} may hold. Guarded by the outbox's lock, which it waits
 * on.
 *
 * <p>At every moment {@code 0 <= used}, and {@code used <= bufferBytes} unless a single event alone
 * is bigger; the number of drops that were reported is never more than the number of drops.
 */
final class Budget {
  private final ClientOptions.Outbound options;
  private final Condition room;
  private long used;
  private long dropped;
  private long droppedReported;
  private boolean closed;

  Budget(ClientOptions.Outbound options, Lock lock) {
    this.options = options;
    this.room = lock.newCondition();
  }

  /**
   * Reserves bytes for an event, waiting for room if the policy says so; returns null on success,
   * else the reason for the refusal.
   */
  @Nullable SendResult tryAcquire(long cost) {
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
    // Waking a publisher for every message would let it add only a few events before it sleeps
    // again.
    if (cost > 0 && used <= options.bufferBytes() / 2) {
      room.signalAll();
    }
  }

  /**
   * Closes the budget: further reservations fail, and waiting publishers are woken with a failure.
   */
  void close() {
    closed = true;
    room.signalAll();
  }

  boolean isClosed() {
    return closed;
  }

  /** Releases everything. */
  void clear() {
    used = 0;
  }

  long used() {
    return used;
  }

  /** Returns the number of events that were dropped because there was no room. */
  long dropped() {
    return dropped;
  }

  /** Returns the number of drops since the last call. */
  long takeDropped() {
    long fresh = dropped - droppedReported;
    droppedReported = dropped;
    return fresh;
  }
}
