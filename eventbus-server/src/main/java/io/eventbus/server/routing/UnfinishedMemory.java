package io.eventbus.server.routing;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What messages take that have not come whole yet: a part of the bus's memory with a limit of its
 * own, so that clients that never finish a message take nothing from those that do. Bytes are asked
 * for before they are allocated. Any thread.
 */
public final class UnfinishedMemory {
  private final BusMemory memory;
  private final long limit;
  private final AtomicLong used = new AtomicLong();
  private final WakeupList waiters = new WakeupList();
  private volatile long refused;
  private volatile Runnable pressureListener = () -> {};

  UnfinishedMemory(BusMemory memory, long limit) {
    this.memory = memory;
    this.limit = limit;
  }

  /**
   * Sets who is told when somebody has to wait. It is called by any thread, often, and must return
   * at once.
   *
   * @param listener the only listener
   */
  public void onPressure(Runnable listener) {
    pressureListener = listener;
  }

  /**
   * Asks for bytes. While the bus as a whole is over its limit there are none; otherwise one
   * message may always be put together, however large.
   *
   * @param bytes at least 0
   * @return false if there is no room; then nothing was taken
   */
  public boolean take(long bytes) {
    return take(bytes, 0);
  }

  /**
   * Asks for bytes, as {@link #take(long)}, for a message that has some already.
   *
   * @param bytes at least 0
   * @return false if there is no room; then nothing was taken
   */
  public boolean take(long bytes, long own) {
    if (memory.isOver()) {
      return false;
    }
    long before = used.getAndAdd(bytes);
    if (before + bytes > limit && before > own) {
      used.addAndGet(-bytes);
      refused = bytes;
      pressureListener.run();
      return false;
    }
    memory.reserve(bytes);
    return true;
  }

  /**
   * Gives bytes back.
   *
   * @param bytes what was taken
   */
  public void give(long bytes) {
    memory.release(bytes);
    used.addAndGet(-bytes);
    if (!waiters.isEmpty()) {
      waiters.wake(fitting());
    }
  }

  /**
   * Says how many of those who wait are to be woken: as many as have room, if they want as much as
   * was refused last. The first one may always try, as it may want less.
   */
  private long fitting() {
    return Math.max(1, (limit - used.get()) / Math.max(1, refused));
  }

  /**
   * Asks for a call when something has been given back, in turn with others who ask.
   *
   * @param retry called once, by any thread; must not block
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

  /** Tells the listener again if somebody waits, or wakes who may go on; for a timer. */
  public void press() {
    if (isShort()) {
      pressureListener.run();
    } else if (isWaitedFor()) {
      waiters.wake(fitting());
    }
  }

  /**
   * Says whether a message waits for room.
   *
   * @return false if none does
   */
  public boolean isWaitedFor() {
    return !waiters.isEmpty();
  }

  /**
   * Says whether room has to be made: a message waits, and what was refused last does not fit.
   *
   * @return false if those who wait can go on
   */
  public boolean isShort() {
    return isWaitedFor() && used.get() > 0 && used.get() + refused > limit;
  }

  /**
   * Returns what unfinished messages take.
   *
   * @return bytes
   */
  public long used() {
    return used.get();
  }

  /**
   * Returns what they may take.
   *
   * @return bytes
   */
  public long limit() {
    return limit;
  }
}
