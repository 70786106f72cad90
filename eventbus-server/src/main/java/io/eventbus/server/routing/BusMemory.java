package io.eventbus.server.routing;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that a bus holds for its clients: deliveries not yet written, and messages not yet
 * complete. Any thread.
 *
 * <p>A reservation never fails, because the bytes have been received already. Above the limit
 * publishers have to wait, and whoever listens for pressure gets rid of the biggest queues.
 */
public final class BusMemory {
  private final long limit;
  private final AtomicLong used = new AtomicLong();
  private final WakeupList waiters = new WakeupList();
  private final UnfinishedMemory shortPieces;
  private final UnfinishedMemory longPieces;
  private final ServiceMemory services;
  private final ServiceMemory registrations;
  private volatile Runnable pressureListener = () -> {};

  /**
   * Makes an account with nothing on it.
   *
   * @param limit bytes, at least 1
   */
  public BusMemory(long limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit: " + limit + " (expected: >= 1)");
    }
    this.limit = limit;
    this.shortPieces = new UnfinishedMemory(this, limit / 8);
    this.longPieces = new UnfinishedMemory(this, limit / 4);
    this.services = new ServiceMemory(this, limit / 2, "calls and tunnels");
    this.registrations = new ServiceMemory(this, limit / 2, "registrations");
  }

  /**
   * Returns what is held of unfinished messages of which only little has come, as of any that a
   * read happens to cut in two.
   */
  public UnfinishedMemory shortPieces() {
    return shortPieces;
  }

  /** Returns what is held of the other unfinished messages. */
  public UnfinishedMemory longPieces() {
    return longPieces;
  }

  /** Returns what is held for calls of services and tunnels. */
  public ServiceMemory services() {
    return services;
  }

  /**
   * Returns what is held for registrations of services: apart from calls, so that neither takes
   * anything from the other.
   */
  public ServiceMemory registrations() {
    return registrations;
  }

  /**
   * Sets who is told when the limit is passed. It is called by any thread, often, and must return
   * at once.
   *
   * @param listener the only listener
   */
  public void onPressure(Runnable listener) {
    pressureListener = listener;
  }

  /**
   * Counts bytes that are held from now on.
   *
   * @param bytes at least 0
   */
  public void reserve(long bytes) {
    if (used.addAndGet(bytes) > limit) {
      pressureListener.run();
    }
  }

  /**
   * Counts bytes that are no longer held.
   *
   * @param bytes what was reserved
   */
  public void release(long bytes) {
    long left = used.addAndGet(-bytes);
    if (left <= resumeBelow() && !waiters.isEmpty()) {
      waiters.wake();
    }
  }

  /**
   * Counts that more or fewer bytes are held than before.
   *
   * @param bytes how many more; negative for fewer, of what was reserved
   */
  public void change(long bytes) {
    if (bytes > 0) {
      reserve(bytes);
    } else if (bytes < 0) {
      release(-bytes);
    }
  }

  /** Tells the listener again if the limit is passed; for a timer. */
  public void press() {
    if (isOver()) {
      pressureListener.run();
    }
  }

  /** Says whether publishers have to wait. */
  public boolean isOver() {
    return used.get() > limit;
  }

  /**
   * Says whether the limit is passed by an eighth: a margin for connections that hold little, while
   * those that hold the most are closed.
   *
   * @return true where nobody gets more
   */
  public boolean isFarOver() {
    return used.get() > limit + limit / 8;
  }

  /**
   * Asks for a call when there is room again.
   *
   * @param retry called once, by any thread; must not block
   */
  public void whenBelow(Runnable retry) {
    waiters.add(retry);
    if (used.get() <= resumeBelow()) {
      waiters.wake();
    }
  }

  /**
   * Calls those who wait if there is a little room, though not enough for {@link #release} to call
   * them; for a timer. Otherwise they would wait for ever where what is held never gets less than
   * that, because subscribers that drop what does not fit have full queues.
   */
  public void wakeIfBelow() {
    if (!waiters.isEmpty() && !isOver()) {
      waiters.wake();
    }
  }

  /**
   * Waiters are called somewhat below the limit, so that one release does not wake all for one
   * event.
   */
  private long resumeBelow() {
    return limit - limit / 8;
  }

  /**
   * Returns the bytes held.
   *
   * @return at least 0
   */
  public long used() {
    return used.get();
  }

  /**
   * Returns the limit.
   *
   * @return bytes
   */
  public long limit() {
    return limit;
  }
}
