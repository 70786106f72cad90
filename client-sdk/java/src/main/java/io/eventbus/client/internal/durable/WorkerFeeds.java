package io.eventbus.client.internal.durable;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Truncated;
import io.eventbus.protocol.FeedView;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Events that a worker has: those that wait for a handler, and those that are not settled. Any
 * thread may use it. Nothing of other parts is called under its lock; what has to be sent or told
 * is left for {@link #tasks}, which the caller runs afterwards.
 *
 * <p>An event belongs to the connection that brought it, and is settled over it: when that is lost,
 * the bus gives the event to another consumer, whatever becomes of it here.
 */
final class WorkerFeeds {
  private final WorkerState worker;
  private final int bufferBytes;
  private final long ackNanos;
  private final Map<FeedLine, WorkerLine> lines = new HashMap<>();
  // Feeds with events that wait.
  private final Deque<WorkerFeed> queue = new ArrayDeque<>();
  // Feeds whose bytes are counted: an event of them waits or is not settled.
  private final Set<WorkerFeed> counted = new LinkedHashSet<>();
  private long bytes;
  // The least limit of any Consume: see FeedProgress.
  private long asked;
  private long feeds;
  private final WorkerJournal journal = new WorkerJournal();
  private boolean stopping;
  private final List<Runnable> tasks = new ArrayList<>();

  /**
   * Creates the state of a worker that has got nothing.
   *
   * @param ackNanos ack timeout in nanoseconds
   */
  WorkerFeeds(WorkerState worker, int bufferBytes, long ackNanos) {
    this.worker = worker;
    this.bufferBytes = bufferBytes;
    this.asked = bufferBytes;
    this.ackNanos = ackNanos;
  }

  /** Takes the tasks that earlier calls have left; they may run in any thread. */
  synchronized List<Runnable> tasks() {
    List<Runnable> taken = List.copyOf(tasks);
    tasks.clear();
    return taken;
  }

  // ---- What the bus says

  /** Returns the limit of a new Consume: what is here keeps its room. */
  synchronized long ask() {
    long limit = room();
    asked = Math.min(asked, limit);
    return limit;
  }

  /** Returns the creation of the journal; 0 while it is not known. */
  synchronized long creation() {
    return journal.creation();
  }

  private long room() {
    return Math.max(0, bufferBytes - bytes);
  }

  /**
   * Notes that the bus has accepted the worker; returns what does not come because the journal was
   * deleted, or null.
   *
   * @param created which creation of the journal; 0 if the bus does not tell
   */
  synchronized @Nullable Truncated accepted(FeedLine line, String filter, long created) {
    lost(line);
    WorkerLine accepted = new WorkerLine(line, worker, asked, bufferBytes / 8, created, tasks);
    lines.put(line, accepted);
    if (stopping) {
      accepted.leave();
    }
    raise();
    return journal.accepted(filter, created);
  }

  /** Takes a {@code Feed} whose frames were checked; returns false if it does not count. */
  synchronized boolean fed(
      FeedLine from, FeedView feed, ByteBuffer message, int frameBytes, long nowNanos) {
    WorkerLine line = lines.get(from);
    if (line == null) {
      // Without an answer to Consume, or behind the end.
      return false;
    }
    line.received(frameBytes);
    journal.fed(feed.to(), feed.head());
    FedItem.Events events =
        new FedItem.Events(
            message, feed.framesStart(), feed.framesEnd(), feed.from() - 1, feed.to(), frameBytes);
    WorkerFeed fed = new WorkerFeed(line, feeds++, feed.attempt(), feed.from(), events, nowNanos);
    counted.add(fed);
    bytes += frameBytes;
    if (line.isLeaving()) {
      release(fed);
      line.flush();
    } else {
      queue.add(fed);
    }
    raise();
    return true;
  }

  /** Notes which events do not come; returns false if that does not count. */
  synchronized boolean truncated(FeedLine from, long to) {
    boolean counts = lines.containsKey(from);
    if (counts) {
      journal.fed(to, to);
    }
    return counts;
  }

  /** Notes that the worker has ended at a bus, or the connection has: what it brought is void. */
  synchronized void lost(FeedLine from) {
    WorkerLine line = lines.remove(from);
    if (line == null) {
      return;
    }
    line.lose();
    queue.removeIf(
        feed -> {
          if (feed.line == line) {
            feed.drop();
            uncountSettled(feed);
          }
          return feed.line == line;
        });
    raise();
  }

  /** Gives back what waits of a connection, and what still comes over it. */
  synchronized void leave(FeedLine from) {
    WorkerLine line = lines.get(from);
    if (line == null) {
      return;
    }
    line.leave();
    queue.removeIf(
        feed -> {
          if (feed.line == line) {
            release(feed);
          }
          return feed.line == line;
        });
    line.flush();
  }

  /** Gives back all that waits, and all that still comes. */
  synchronized void stop() {
    stopping = true;
    List.copyOf(lines.keySet()).forEach(this::leave);
  }

  /** Drops what waits, and all that comes. */
  synchronized void end() {
    stopping = true;
    List.copyOf(lines.keySet()).forEach(this::lost);
    counted.clear();
    bytes = 0;
  }

  private void release(WorkerFeed feed) {
    SettledRange range = feed.release();
    if (range != null) {
      feed.line.settle(range);
    }
    uncountSettled(feed);
  }

  private void uncountSettled(WorkerFeed feed) {
    if (feed.isSettled()) {
      uncount(feed);
    }
  }

  private void uncount(WorkerFeed feed) {
    if (counted.remove(feed)) {
      bytes -= feed.bytes;
      raise();
    }
  }

  private void raise() {
    lines.values().forEach(line -> line.raise(room()));
  }

  // ---- What handlers do

  /** Returns whether an event may wait for a handler. */
  synchronized boolean hasWork() {
    return !queue.isEmpty();
  }

  /** Returns whether an event waits for a handler, of feeds whose positions follow each other. */
  synchronized boolean waits() {
    return queue.stream().anyMatch(WorkerFeed::waits);
  }

  /** Takes the next event; null if none waits. */
  synchronized @Nullable OpenDelivery take(long nowNanos) {
    WorkerFeed feed = queue.peek();
    while (feed != null) {
      OpenDelivery delivery = feed.take(worker);
      if (delivery != null) {
        feed.extended(nowNanos);
        delivery.extendedAt = nowNanos;
        if (feed.waited(nowNanos) > ackNanos / 8) {
          // The handler gets the whole ack timeout.
          feed.line.extend(delivery);
          feed.line.flush();
        }
        return delivery;
      }
      queue.remove();
      uncountSettled(feed);
      feed = queue.peek();
    }
    return null;
  }

  /** Leaves the settlement of an event to a later call. */
  synchronized void defer(OpenDelivery delivery) {
    delivery.deferred = true;
  }

  /** Returns whether an event whose handler has returned is done by that. */
  synchronized boolean isDone(OpenDelivery delivery) {
    return !delivery.deferred && !delivery.settled;
  }

  /**
   * Settles an event; returns false if it was settled before. What waits to be sent is left for
   * {@link #flush()}.
   */
  synchronized boolean settle(OpenDelivery delivery, SettledRange range) {
    boolean first = close(delivery);
    if (first) {
      delivery.feed.line.settle(delivery, range);
    }
    return first;
  }

  /** Settles an event with an answer; returns the stage of the answer. */
  synchronized CompletableFuture<Void> settleConfirmed(OpenDelivery delivery) {
    CompletableFuture<Void> known = delivery.confirmation;
    if (known != null) {
      return known;
    }
    if (!close(delivery)) {
      return CompletableFuture.failedFuture(
          new IllegalStateException(
              "the event at position "
                  + delivery.event.position()
                  + " is settled already (expected: doneConfirmed as its first settlement)"));
    }
    CompletableFuture<Void> stage = new CompletableFuture<>();
    delivery.confirmation = stage;
    delivery.feed.line.settleConfirmed(delivery, stage);
    return stage;
  }

  private boolean close(OpenDelivery delivery) {
    if (delivery.settled) {
      return false;
    }
    delivery.settled = true;
    delivery.feed.settled();
    uncountSettled(delivery.feed);
    return true;
  }

  /** Begins the ack timeout of an event again; returns whether that has to be sent. */
  synchronized boolean extend(OpenDelivery delivery, long nowNanos) {
    if (delivery.settled || nowNanos - delivery.extendedAt < ackNanos / 8) {
      return false;
    }
    delivery.extendedAt = nowNanos;
    delivery.feed.extended(nowNanos);
    return delivery.feed.line.extend(delivery);
  }

  /** Sends the settlements that wait. */
  synchronized void flush() {
    lines.values().forEach(WorkerLine::flush);
  }

  /** Notes that a settlement is stored. */
  synchronized void settled(FeedLine from, long position) {
    WorkerLine line = lines.get(from);
    if (line != null) {
      line.settled(position);
    }
  }

  /** Notes that a settlement is refused; returns whether the application is told. */
  synchronized boolean refused(FeedLine from, EventBusException failure) {
    WorkerLine line = lines.get(from);
    return line != null && line.refused(failure);
  }

  // ---- Time

  /**
   * Gives back what waits for long, and counts the bytes of what was not settled in time no more:
   * the bus has given that to another consumer. Returns whether anything is left to look at.
   */
  synchronized boolean look(long nowNanos) {
    for (WorkerFeed feed : List.copyOf(counted)) {
      if (!feed.isOver() && feed.waited(nowNanos) >= ackNanos / 2) {
        queue.remove(feed);
        release(feed);
      }
      if (feed.age(nowNanos) >= 2 * ackNanos) {
        uncount(feed);
      }
    }
    flush();
    return !counted.isEmpty();
  }

  synchronized long bufferedBytes() {
    return bytes;
  }
}
