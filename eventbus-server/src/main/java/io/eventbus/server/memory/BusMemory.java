package io.eventbus.server.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes that a bus holds for its clients: deliveries not yet written, and messages not yet
 * complete. Any thread.
 *
 * <p>A reservation never fails, because the bytes have been received already. Above the limit
 * publishers have to wait, and the listener for pressure evicts the largest queues.
 */
public final class BusMemory {
  /** Bytes that each queue may hold, however many there are. */
  static final long MIN_QUEUE_BYTES = 4 * 1024;

  /** Divisor of the room that is left: a few slow subscribers get much each. */
  private static final long QUEUE_PARTS = 4;

  private final long limit;
  private final AtomicLong used = new AtomicLong();
  private final WakeupList waiters = new WakeupList();
  private final UnfinishedMemory shortPieces;
  private final UnfinishedMemory longPieces;
  private final ServiceMemory services;
  private final ServiceMemory registrations;
  private volatile Runnable pressureListener = () -> {};

  /** Creates an account of memory with a limit in bytes, at least 1. */
  public BusMemory(long limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit: " + limit + " (expected: >= 1)");
    }
    this.limit = limit;
    this.shortPieces = new UnfinishedMemory(this, limit / 8, limit / 64);
    this.longPieces = new UnfinishedMemory(this, limit / 4, 0);
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
   * Sets the listener, which is called when the limit is passed, by any thread and often; it must
   * return at once.
   */
  public void onPressure(Runnable listener) {
    pressureListener = listener;
  }

  /** Counts bytes that are held from now on. */
  public void reserve(long bytes) {
    if (used.addAndGet(bytes) > limit) {
      pressureListener.run();
    }
  }

  /** Counts bytes that are no longer held. */
  public void release(long bytes) {
    long left = used.addAndGet(-bytes);
    if (left <= resumeBelow() && !waiters.isEmpty()) {
      waiters.wake();
    }
  }

  /** Changes the bytes that are held; negative for fewer, of those that were reserved. */
  public void change(long bytes) {
    if (bytes > 0) {
      reserve(bytes);
    } else if (bytes < 0) {
      release(-bytes);
    }
  }

  /** Calls the listener again if the limit is passed; for a timer. */
  public void press() {
    if (isOver()) {
      pressureListener.run();
    }
  }

  /** Returns whether publishers have to wait. */
  public boolean isOver() {
    return used.get() > limit;
  }

  /**
   * Returns whether the limit is passed by an eighth, so that nobody gets more: a margin for
   * connections that hold little, while those that hold the most are closed.
   */
  public boolean isFarOver() {
    return used.get() > limit + limit / 8;
  }

  /**
   * Returns the number of bytes that the queue of one subscriber may hold: a quarter of what others
   * leave of half of the limit. So thousands of subscribers that do not read fill little more than
   * that half, and the rest is for publishers and calls (dynamic queue threshold, Choudhury and
   * Hahne 1998).
   *
   * @param own bound of the queue while the bus has plenty of memory, in bytes
   */
  public long queueBound(long own) {
    long queues = used.get();
    if (part(queues) < own) {
      // What has a bound of its own must not take the room of queues.
      queues -= services.used() + registrations.used() + shortPieces.used() + longPieces.used();
    }
    return Math.min(own, Math.max(MIN_QUEUE_BYTES, part(queues)));
  }

  private long part(long queues) {
    return (limit / 2 - queues) / QUEUE_PARTS;
  }

  /**
   * Calls back once when there is room again.
   *
   * @param retry called by any thread; must not block
   */
  public void whenBelow(Runnable retry) {
    waiters.add(retry);
    if (used.get() <= resumeBelow()) {
      waiters.wake();
    }
  }

  /**
   * Wakes those who wait if there is a little room, though not enough for {@link #release} to do
   * so; for a timer. They would wait for ever if usage never gets that low, because subscribers
   * that drop what does not fit have full queues.
   */
  public void wakeIfBelow() {
    if (!waiters.isEmpty() && !isOver()) {
      waiters.wake();
    }
  }

  /**
   * Returns the level below which those who wait are woken: somewhat below the limit, so that one
   * release does not wake all for one event.
   */
  private long resumeBelow() {
    return limit - limit / 8;
  }

  /** Returns the bytes held. */
  public long used() {
    return used.get();
  }

  /** Returns the limit in bytes. */
  public long limit() {
    return limit;
  }
}
