package io.eventbus.client.internal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The events of a subscription that wait for its consumer: from the connection's thread to that of
 * the handler. Bounded in bytes. Under BLOCK an offer beyond the bound says so, and the connection
 * then grants no more or stops reading until {@code onRoom} is run; what was granted or read by
 * then still comes. Other policies make room here. Handed over once for each WebSocket message.
 */
final class InboundQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrival = lock.newCondition();
  private final long mostBytes;
  private final @Nullable BufferPolicy policy;
  private final LongSupplier nanoTime;
  private Deque<Inbound> waiting = new ArrayDeque<>();
  private long bytes;
  // Of the messages that were added since all that waits was in memory of its own, or was taken.
  private long messageBytes;
  private boolean ended;
  private boolean full;
  // Nanoseconds: since when it is full, and for how long it was in all before.
  private long fullSince;
  private long fullNanos;
  private volatile boolean discarding;
  private volatile Runnable onRoom = () -> {};

  /**
   * Makes one.
   *
   * @param policy makes room where it is full; null where the connection is held back instead
   * @param nanoTime the clock, for how long it is full
   */
  InboundQueue(long mostBytes, @Nullable BufferPolicy policy, LongSupplier nanoTime) {
    this.mostBytes = mostBytes;
    this.policy = policy;
    this.nanoTime = nanoTime;
  }

  /** Sets what is run when there is room again; must be called before the first offer. */
  void onRoom(Runnable told) {
    onRoom = told;
  }

  /**
   * Drops what the policy says if more waits than is to wait. Called before more is offered, so
   * that a consumer that keeps up has had its turn.
   *
   * @return what was dropped, for the caller to tell; null for nothing
   */
  BufferPolicy.@Nullable Dropped makeRoom() {
    if (policy == null) {
      return null;
    }
    lock.lock();
    try {
      // The delivery that the consumer is at cannot be dropped, however large it is.
      if (bytes <= mostBytes || waiting.isEmpty()) {
        return null;
      }
      BufferPolicy.Dropped dropped = new BufferPolicy.Dropped();
      bytes = policy.apply(waiting, bytes, dropped);
      return dropped;
    } finally {
      lock.unlock();
    }
  }

  /** Says whether the connection is to be closed where something was dropped. */
  boolean disconnects() {
    return policy != null && policy.disconnects();
  }

  /**
   * Takes what has arrived. Under BLOCK, how long a full queue may stay full is the bus's decision:
   * it closes the connection of a subscriber that stays slow.
   *
   * @param size bytes that it takes of the bound
   * @param ofMessages bytes of the messages that it came in, which it keeps in memory
   * @return true if the queue became full: {@code onRoom} will be run, once, perhaps before this
   *     method returns
   */
  boolean offer(List<Inbound> arrived, long size, long ofMessages) {
    lock.lock();
    try {
      if (discarding) {
        return false;
      }
      waiting.addAll(arrived);
      bytes += size;
      messageBytes += ofMessages;
      if (messageBytes > mostBytes && messageBytes > size) {
        compact();
      }
      arrival.signal();
      if (policy != null || full || bytes <= mostBytes) {
        return false;
      }
      full = true;
      fullSince = nanoTime.getAsLong();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes what is there: everything, or the first where the policy may want the rest.
   *
   * @param empty an empty deque, which the queue may keep
   * @return a deque for the consumer; empty if there is nothing
   */
  Deque<Inbound> take(Deque<Inbound> empty) {
    lock.lock();
    try {
      if (policy != null) {
        Inbound first = waiting.pollFirst();
        if (first != null) {
          empty.add(first);
        }
        return empty;
      }
      messageBytes = 0;
      Deque<Inbound> taken = waiting;
      waiting = empty;
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /**
   * A message is kept in memory as long as one of its frames waits; those of other subscriptions
   * must not add to the bound of this one.
   */
  private void compact() {
    int count = waiting.size();
    for (int i = 0; i < count; i++) {
      Inbound first = waiting.removeFirst();
      waiting.addLast(first instanceof InboundDelivery events ? events.compact() : first);
    }
    messageBytes = 0;
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
    boolean told;
    lock.lock();
    try {
      if (discarding) {
        return;
      }
      bytes -= size;
      told = bytes <= mostBytes && endFull();
    } finally {
      lock.unlock();
    }
    if (told) {
      onRoom.run();
    }
  }

  private boolean endFull() {
    if (!full) {
      return false;
    }
    full = false;
    fullNanos += nanoTime.getAsLong() - fullSince;
    return true;
  }

  /** Returns for how many nanoseconds it has been full, in all. */
  long fullNanos() {
    lock.lock();
    try {
      return full ? fullNanos + nanoTime.getAsLong() - fullSince : fullNanos;
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

  /** Drops what is here and what comes. */
  void discard() {
    boolean told;
    lock.lock();
    try {
      discarding = true;
      ended = true;
      waiting.clear();
      bytes = 0;
      arrival.signalAll();
      told = endFull();
    } finally {
      lock.unlock();
    }
    if (told) {
      onRoom.run();
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

  /** Bytes that fit in before it is full. */
  long room() {
    lock.lock();
    try {
      return mostBytes - bytes;
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
