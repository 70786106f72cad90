package io.eventbus.client.internal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The events of a subscription that wait for its consumer: from the connection's thread to that of
 * the handler. Bounded in bytes; when it is full the connection's thread waits, which is what holds
 * the bus back. Handed over once for each WebSocket message.
 */
final class InboundQueue {
  private static final long LOOK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();
  private final Condition arrival = lock.newCondition();
  private final long mostBytes;
  private Deque<Delivery> waiting = new ArrayDeque<>();
  private long bytes;
  private boolean ended;
  private volatile boolean discarding;

  InboundQueue(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /** Takes deliveries if there is room, without waiting. */
  boolean offerNow(List<Delivery> deliveries, long size) {
    lock.lock();
    try {
      if (isFull(size)) {
        return false;
      }
      accept(deliveries, size);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes deliveries, waiting for room. How long is the bus's decision: it closes the connection of
   * a subscriber that stays slow. A subscription that ends lets go of the waiting thread.
   */
  void offer(List<Delivery> deliveries, long size) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = LOOK_AGAIN_NANOS;
      while (isFull(size)) {
        left = left > 0 ? room.awaitNanos(left) : LOOK_AGAIN_NANOS;
      }
      accept(deliveries, size);
    } finally {
      lock.unlock();
    }
  }

  /** Takes deliveries even if there is no room. */
  void offerAnyway(List<Delivery> deliveries, long size) {
    lock.lock();
    try {
      accept(deliveries, size);
    } finally {
      lock.unlock();
    }
  }

  private boolean isFull(long size) {
    return !discarding && bytes > 0 && bytes + size > mostBytes;
  }

  private void accept(List<Delivery> deliveries, long size) {
    if (!discarding) {
      waiting.addAll(deliveries);
      bytes += size;
      arrival.signal();
    }
  }

  /**
   * Takes everything that is there.
   *
   * @param empty an empty deque, which the queue keeps
   * @return a deque for the consumer; empty if there is nothing
   */
  Deque<Delivery> takeAll(Deque<Delivery> empty) {
    lock.lock();
    try {
      Deque<Delivery> taken = waiting;
      waiting = empty;
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is something to take, or the queue has ended. */
  boolean await(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (waiting.isEmpty() && !ended && left > 0) {
        left = arrival.awaitNanos(left);
      }
      return !waiting.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** The consumer is done with so many bytes. */
  void release(long size) {
    lock.lock();
    try {
      bytes -= size;
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Nothing more comes; what is here stays. */
  void end() {
    lock.lock();
    try {
      ended = true;
      arrival.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Drops what is here and what comes; nobody waits here any more. */
  void discard() {
    lock.lock();
    try {
      discarding = true;
      ended = true;
      waiting.clear();
      room.signalAll();
      arrival.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Says whether the consumer has seen the last event. */
  boolean isFinished() {
    lock.lock();
    try {
      return ended && waiting.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  boolean isDiscarding() {
    return discarding;
  }

  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }
}
