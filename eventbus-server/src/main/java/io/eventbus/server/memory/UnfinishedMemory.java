package io.eventbus.server.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory of messages that are not complete yet: a part of the bus's memory with a limit of its own,
 * so that clients that never finish a message take nothing from those that do. Bytes are acquired
 * before they are allocated. Any thread.
 */
public final class UnfinishedMemory {
  /** Size up to which a message is small. */
  static final int SMALL_BYTES = 4 * 1024;

  private final BusMemory memory;
  private final long limit;
  private final long reserved;
  private final AtomicLong used = new AtomicLong();
  private final WakeupList waiters = new WakeupList();
  private volatile long refused;
  // Limit that the last refused message would have passed.
  private volatile long refusedLimit;
  private volatile Runnable pressureListener = () -> {};

  /**
   * Creates an account without messages.
   *
   * @param reserved bytes of the limit for small messages only: a crowd with larger ones does not
   *     keep others from sending small ones
   */
  UnfinishedMemory(BusMemory memory, long limit, long reserved) {
    this.memory = memory;
    this.limit = limit;
    this.reserved = reserved;
    this.refusedLimit = limit;
  }

  /**
   * Sets the listener, which is called when a message has to wait, by any thread and often; it must
   * return at once.
   */
  public void onPressure(Runnable listener) {
    pressureListener = listener;
  }

  /**
   * Acquires bytes; returns false, and acquires nothing, if there is no room. While the bus as a
   * whole is over its limit there is none; otherwise one message may always be put together,
   * however large.
   */
  public boolean tryAcquire(long bytes) {
    return tryAcquire(bytes, 0);
  }

  /** Acquires bytes, as {@link #tryAcquire(long)}, for a message that has some already. */
  public boolean tryAcquire(long bytes, long own) {
    if (memory.isOver()) {
      return false;
    }
    long max = own + bytes <= SMALL_BYTES ? limit : limit - reserved;
    long before = used.getAndAdd(bytes);
    if (before + bytes > max && before > own) {
      used.addAndGet(-bytes);
      refused = bytes;
      refusedLimit = max;
      pressureListener.run();
      return false;
    }
    memory.reserve(bytes);
    return true;
  }

  /** Releases bytes that were acquired. */
  public void release(long bytes) {
    memory.release(bytes);
    used.addAndGet(-bytes);
    if (!waiters.isEmpty()) {
      waiters.wake(fitting());
    }
  }

  /**
   * Returns how many of those who wait are to be woken: as many as have room, if they want as much
   * as was refused last. The first one may always try, as it may want less.
   */
  private long fitting() {
    return Math.max(1, (refusedLimit - used.get()) / Math.max(1, refused));
  }

  /**
   * Calls back once when bytes have been released, in turn with others who wait.
   *
   * @param retry called by any thread; must not block
   */
  public void whenRoom(Runnable retry) {
    if (memory.isOver()) {
      memory.whenBelow(retry);
      return;
    }
    waiters.add(retry);
    if (used.get() == 0) {
      waiters.wake(fitting());
    } else {
      pressureListener.run();
    }
  }

  /** Calls the listener again if a message waits, or wakes those who may go on; for a timer. */
  public void press() {
    if (isShort()) {
      pressureListener.run();
    } else if (isWaitedFor()) {
      waiters.wake(fitting());
    }
  }

  /** Returns whether a message waits for room. */
  public boolean isWaitedFor() {
    return !waiters.isEmpty();
  }

  /**
   * Returns whether room has to be made: a message waits, and what was refused last does not fit.
   */
  public boolean isShort() {
    return isWaitedFor() && used.get() > 0 && used.get() + refused > refusedLimit;
  }

  /** Returns the bytes of unfinished messages. */
  public long used() {
    return used.get();
  }

  /** Returns the limit in bytes. */
  public long limit() {
    return limit;
  }
}
