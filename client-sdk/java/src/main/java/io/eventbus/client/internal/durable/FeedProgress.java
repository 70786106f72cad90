package io.eventbus.client.internal.durable;

import io.eventbus.client.Truncated;
import io.eventbus.protocol.FeedView;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a consumer: how far it was fed, handled and settled, and what waits for its handler.
 * Any thread may use it; nothing of other parts is called under its lock.
 *
 * <p>What was fed once is not handled again, whichever connection brings it: {@link #covered} grows
 * only. So a reconnect and a move need no agreement with the bus.
 */
final class FeedProgress {
  /** Minimum time between two settlements. */
  private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Answer of {@link #settle}: there is nothing to settle, or a timer is set for it. */
  static final long NOTHING = -1;

  private final long consumer;
  private final int bufferBytes;
  private final boolean settles;
  private final Deque<FedItem> queue = new ArrayDeque<>();
  private long queuedBytes;
  // Of the connection that has fed last.
  private @Nullable FeedCredit credit;
  private boolean known;
  // The last position that was fed, and the last up to which everything is handled.
  private long covered;
  private long handled;
  private long head;
  private long settled;
  private long settledAt;
  private boolean settlesSoon;
  private boolean ended;

  /**
   * Creates the progress of a consumer that has got nothing.
   *
   * @param settles whether the bus remembers what is handled
   * @param nowNanos of the {@code MicroClock}
   */
  FeedProgress(long consumer, int bufferBytes, boolean settles, long nowNanos) {
    this.consumer = consumer;
    this.bufferBytes = bufferBytes;
    this.settles = settles;
    // The first settlement need not wait.
    this.settledAt = nowNanos - SETTLE_NANOS;
  }

  /**
   * Takes a {@code Feed} whose frames were checked; returns the task that grants credit, or null.
   *
   * @param bytes of the whole frame
   */
  synchronized @Nullable Runnable fed(FeedLine line, FeedView feed, ByteBuffer message, int bytes) {
    of(line, feed.from()).received(bytes);
    head = Math.max(head, feed.head());
    if (feed.to() > covered) {
      add(
          new FedItem.Events(
              message, feed.framesStart(), feed.framesEnd(), covered, feed.to(), bytes));
    }
    return raise();
  }

  /** Takes a {@code Truncated}; returns what is new of it, or null. */
  synchronized @Nullable Truncated truncated(
      FeedLine line, String filter, long from, long to, Truncated.Reason reason) {
    of(line, from);
    head = Math.max(head, to);
    if (to <= covered) {
      return null;
    }
    Truncated told = new Truncated(filter, Math.max(from, covered + 1), to, reason);
    add(new FedItem.Missing(told));
    return told;
  }

  /** Returns the credit of a connection. Its first frame says that the consumer is active there. */
  private FeedCredit of(FeedLine line, long from) {
    FeedCredit now = credit;
    if (now == null || !now.isOf(line)) {
      now = new FeedCredit(line, consumer, bufferBytes);
      credit = now;
      // What was settled over another connection may not have arrived.
      settled = 0;
    }
    if (!known) {
      known = true;
      covered = from - 1;
      handled = covered;
      settled = covered;
    }
    return now;
  }

  private void add(FedItem item) {
    covered = item.to();
    if (!ended) {
      queue.add(item);
      queuedBytes += item.bytes();
    }
  }

  private @Nullable Runnable raise() {
    FeedCredit now = credit;
    return now == null ? null : now.raise(Math.max(0, bufferBytes - queuedBytes));
  }

  /** Takes the next item; null if there is none. */
  synchronized @Nullable FedItem take() {
    return queue.poll();
  }

  /** Notes that everything up to a position is handled. */
  synchronized void handled(long position) {
    handled = Math.max(handled, position);
  }

  /** Notes that an item was handled whole; returns the task that grants credit, or null. */
  synchronized @Nullable Runnable done(FedItem item) {
    handled = Math.max(handled, item.to());
    queuedBytes = Math.max(0, queuedBytes - item.bytes());
    return raise();
  }

  /**
   * Returns how long the next settlement has to wait, in nanoseconds: 0 to send it now, or {@link
   * #NOTHING}.
   *
   * @param byTimer whether this is the end of such a wait
   */
  synchronized long settle(boolean byTimer, long nowNanos) {
    if (byTimer) {
      settlesSoon = false;
    }
    if (!hasToSettle() || ended || settlesSoon) {
      return NOTHING;
    }
    long wait = Math.max(0, settledAt + SETTLE_NANOS - nowNanos);
    settlesSoon = wait > 0;
    return wait;
  }

  /** Returns whether something is handled that the bus was not told of. */
  synchronized boolean hasToSettle() {
    return settles && handled > settled;
  }

  /** Returns the position to settle, and takes it for settled. */
  synchronized long settlement(long nowNanos) {
    settled = handled;
    settledAt = nowNanos;
    return handled;
  }

  /** Drops what waits, and all that comes. */
  synchronized void end() {
    ended = true;
    queue.clear();
    queuedBytes = 0;
  }

  synchronized boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Returns whether the bus has told where the consumer begins. */
  synchronized boolean isKnown() {
    return known;
  }

  /** Returns the last position that was fed; 0 before the first. */
  synchronized long covered() {
    return covered;
  }

  /** Returns the position up to which everything is handled; 0 before the first. */
  synchronized long handled() {
    return handled;
  }

  synchronized long lag() {
    return Math.max(0, head - handled);
  }

  synchronized long bufferedBytes() {
    return queuedBytes;
  }
}
