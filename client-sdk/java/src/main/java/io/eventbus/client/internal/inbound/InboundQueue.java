package io.eventbus.client.internal.inbound;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Queue of events of a subscription that wait for its consumer: from the connection's thread to
 * that of the handler. Bounded in bytes. Under BLOCK an offer beyond the bound says so, and the
 * connection then grants no more or stops reading until {@code onRoom} is run; what was granted or
 * read by then still comes. Other policies make room here. Handed over once for each WebSocket
 * message.
 */
final class InboundQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrival = lock.newCondition();
  private final long maxBytes;
  private final @Nullable BufferPolicy policy;
  private final LongSupplier nanoTime;
  private Deque<Inbound> waiting = new ArrayDeque<>();
  private long bytes;
  // Bytes of the messages that were added since everything here was in memory of its own, or was
  // taken.
  private long messageBytes;
  private boolean ended;
  private boolean full;
  // Nanoseconds: start of the present fullness, and sum of the earlier ones.
  private long fullSince;
  private long fullNanos;
  private volatile boolean discarding;
  private volatile Runnable onRoom = () -> {};

  /**
   * Creates a queue.
   *
   * @param policy makes room where it is full; null where the connection is stalled instead
   * @param nanoTime clock for the time for which it is full
   */
  InboundQueue(long maxBytes, @Nullable BufferPolicy policy, LongSupplier nanoTime) {
    this.maxBytes = maxBytes;
    this.policy = policy;
    this.nanoTime = nanoTime;
  }

  /** Sets the task that runs when there is room again; must be called before the first offer. */
  void onRoom(Runnable task) {
    onRoom = task;
  }

  /**
   * Drops by the policy what is over the bound; returns what was dropped, for the caller to report,
   * or null for nothing. Called before more is offered, so that a consumer that keeps up has had
   * its turn.
   */
  BufferPolicy.@Nullable Dropped makeRoom() {
    if (policy == null) {
      return null;
    }
    lock.lock();
    try {
      // The delivery that the consumer is at cannot be dropped, however large it is.
      if (bytes <= maxBytes || waiting.isEmpty()) {
        return null;
      }
      BufferPolicy.Dropped dropped = new BufferPolicy.Dropped();
      bytes = policy.apply(waiting, bytes, dropped);
      return dropped;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the connection is to be closed when something was dropped. */
  boolean disconnects() {
    return policy != null && policy.disconnects();
  }

  /**
   * Adds what has arrived. Returns true if the queue became full: {@code onRoom} will be run, once,
   * perhaps before this method returns. Under BLOCK, the bus decides how long a queue may stay
   * full: it closes the connection of a subscriber that stays slow.
   *
   * @param size bytes that it takes of the bound
   * @param ofMessages bytes of the messages that it came in, which it keeps in memory
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
      if (messageBytes > maxBytes && messageBytes > size) {
        compact();
      }
      arrival.signal();
      if (policy != null || full || bytes <= maxBytes) {
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
   * Removes and returns what is there: everything, or the first if the policy may need the rest;
   * empty if there is nothing.
   *
   * @param empty an empty deque, which the queue may keep
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
   * Copies events into memory of their own. A message is kept in memory as long as one of its
   * frames waits; frames of other subscriptions must not add to the bound of this one.
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

  /** Releases bytes that the consumer is done with. */
  void release(long size) {
    boolean wakes;
    lock.lock();
    try {
      if (discarding) {
        return;
      }
      bytes -= size;
      wakes = bytes <= maxBytes && endFull();
    } finally {
      lock.unlock();
    }
    if (wakes) {
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

  /** Returns the nanoseconds for which it has been full in all. */
  long fullNanos() {
    lock.lock();
    try {
      return full ? fullNanos + nanoTime.getAsLong() - fullSince : fullNanos;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the queue: nothing more comes; what is here stays. */
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
    boolean wakes;
    lock.lock();
    try {
      discarding = true;
      ended = true;
      waiting.clear();
      bytes = 0;
      arrival.signalAll();
      wakes = endFull();
    } finally {
      lock.unlock();
    }
    if (wakes) {
      onRoom.run();
    }
  }

  /** Returns whether the consumer has seen the last event. */
  boolean isFinished() {
    lock.lock();
    try {
      return ended && waiting.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of bytes that fit in before it is full. */
  long room() {
    lock.lock();
    try {
      return maxBytes - bytes;
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
