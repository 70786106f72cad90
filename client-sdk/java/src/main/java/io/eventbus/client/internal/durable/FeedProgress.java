package io.eventbus.client.internal.durable;

import io.eventbus.client.Truncated;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.FeedView;
import io.eventbus.schema.Settle;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a consumer: how far it was fed, handled and settled, and what waits for its handler.
 * Any thread may use it; nothing of other parts is called under its lock.
 *
 * <p>What was fed once is not handled again, whichever connection brings it: {@link #covered} grows
 * only. So a reconnect and a move need no agreement with the bus. All positions are those of one
 * creation of the journal: with another one, another progress begins.
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
  // Of each connection whose bus has accepted the consumer: two of them in a move.
  private final Map<FeedLine, FeedCredit> credits = new HashMap<>();
  // Connections over which frames of an earlier creation of the journal may come.
  private final Set<FeedLine> outdated = new HashSet<>();
  // The least limit of any Consume: the bus that answers was told as much or more. Credit that
  // repeats a part of that does no harm; credit that was taken for granted would be awaited for
  // ever.
  private long asked;
  // The creation of the journal; 0 while it is not known.
  private long creation;
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
    this.asked = bufferBytes;
    this.settles = settles;
    // The first settlement need not wait.
    this.settledAt = nowNanos - SETTLE_NANOS;
  }

  /**
   * Notes which creation of the journal a bus has told; 0 for unknown. Returns false if it is
   * another one than before.
   */
  synchronized boolean isOf(long told) {
    if (creation == 0) {
      creation = told;
    }
    return told == 0 || told == creation;
  }

  /** Returns the creation of the journal; 0 while it is not known. */
  synchronized long creation() {
    return creation;
  }

  /** Returns what the consumer does not get any more if the journal is gone; null for nothing. */
  synchronized @Nullable Truncated left(String filter) {
    long next = handled + 1;
    return known
        ? new Truncated(filter, next, Math.max(next, head), Truncated.Reason.DELETED)
        : null;
  }

  /**
   * Ends this progress, and returns that of another creation of the journal.
   *
   * @param told what the consumer does not get of the one before; null for nothing
   */
  synchronized FeedProgress replaced(long by, @Nullable Truncated told, long nowNanos) {
    FeedProgress next = new FeedProgress(consumer, bufferBytes, settles, nowNanos);
    next.outdated.addAll(outdated);
    next.outdated.addAll(credits.keySet());
    end();
    next.asked = asked;
    next.creation = by;
    if (told != null) {
      next.miss(told);
    }
    return next;
  }

  /** Returns the limit of a new Consume: what waits keeps its room. */
  synchronized long ask() {
    long limit = room();
    asked = Math.min(asked, limit);
    return limit;
  }

  private long room() {
    return Math.max(0, bufferBytes - queuedBytes);
  }

  /**
   * Notes that the bus has accepted a Consume, since which it counts what it feeds; returns the
   * tasks that grant credit for what was handled meanwhile.
   */
  synchronized List<Runnable> accepted(FeedLine line) {
    outdated.remove(line);
    credits.put(line, new FeedCredit(line, consumer, bufferBytes / 2, asked));
    return raise();
  }

  /** Notes that the consumer has ended at the bus, or its connection has. */
  synchronized void lost(FeedLine line) {
    outdated.remove(line);
    credits.remove(line);
  }

  /**
   * Takes a {@code Feed} whose frames were checked; returns the tasks that grant credit.
   *
   * @param bytes of the whole frame
   */
  synchronized List<Runnable> fed(FeedLine line, FeedView feed, ByteBuffer message, int bytes) {
    if (!arrived(line, feed.from(), bytes)) {
      return List.of();
    }
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
    if (!arrived(line, from, 0)) {
      return null;
    }
    head = Math.max(head, to);
    if (to <= covered) {
      return null;
    }
    Truncated told = new Truncated(filter, Math.max(from, covered + 1), to, reason);
    miss(told);
    return told;
  }

  /**
   * Adds events that do not come, which no credit limits: to those that wait last, if the reason is
   * the same or there is no room.
   */
  private void miss(Truncated told) {
    FedItem last = queue.peekLast();
    if (last instanceof FedItem.Missing missing
        && !missing.isOfDeleted()
        && (missing.truncated().reason() == told.reason() || room() == 0)) {
      Truncated before = missing.truncated();
      Truncated.Reason reason =
          before.reason() == told.reason() ? told.reason() : Truncated.Reason.UNKNOWN;
      queue.removeLast();
      queuedBytes -= last.bytes();
      add(new FedItem.Missing(new Truncated(told.filter(), before.from(), told.to(), reason)));
    } else {
      add(new FedItem.Missing(told));
    }
  }

  /**
   * Counts a frame. The first one of a connection says that the consumer is active there. Returns
   * false for one of an earlier creation of the journal.
   */
  private boolean arrived(FeedLine line, long from, int bytes) {
    if (outdated.contains(line)) {
      return false;
    }
    FeedCredit credit =
        credits.computeIfAbsent(line, l -> new FeedCredit(l, consumer, bufferBytes / 2, asked));
    if (credit.received(bytes)) {
      // Earlier settlements may not have arrived.
      settled = 0;
      if (settles && known) {
        // Another consumer has handled the rest of what is settled.
        handled = Math.max(handled, from - 1);
        covered = Math.max(covered, handled);
      }
    }
    if (!known) {
      known = true;
      covered = from - 1;
      handled = covered;
      settled = covered;
    }
    return true;
  }

  private void add(FedItem item) {
    covered = item.to();
    if (!ended) {
      queue.add(item);
      queuedBytes += item.bytes();
    }
  }

  private List<Runnable> raise() {
    List<Runnable> tasks = new ArrayList<>();
    for (FeedCredit credit : credits.values()) {
      Runnable task = credit.raise(room());
      if (task != null) {
        tasks.add(task);
      }
    }
    return tasks;
  }

  /** Takes the next item; null if there is none. */
  synchronized @Nullable FedItem take() {
    return queue.poll();
  }

  /** Notes that everything up to a position is handled. */
  synchronized void handled(long position) {
    handled = Math.max(handled, position);
  }

  /** Notes that an item was handled whole; returns the tasks that grant credit. */
  synchronized List<Runnable> done(FedItem item) {
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

  /** Returns the settlement of what is handled, and takes it for settled. */
  synchronized Settle settlement(long nowNanos) {
    settled = handled;
    settledAt = nowNanos;
    return DurableFrames.settleUpTo(consumer, handled, false, creation);
  }

  /** Drops what waits, and all that comes. */
  synchronized void end() {
    ended = true;
    credits.clear();
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
