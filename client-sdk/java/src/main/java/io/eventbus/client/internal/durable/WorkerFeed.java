package io.eventbus.client.internal.durable;

import io.eventbus.client.ReceivedEvent;
import io.eventbus.schema.SettleOutcome;
import org.jspecify.annotations.Nullable;

/**
 * Feed of a shared durable subscription: the events that wait, and how many handlers have. Guarded
 * by the lock of its {@link WorkerFeeds}.
 */
final class WorkerFeed {
  final WorkerLine line;

  /** Number of the feed in this client, which ascends. */
  final long number;

  final int attempt;
  final int bytes;
  private final FedEvents events = new FedEvents();
  private final long to;
  private final long arrivedAt;
  // The first position and the number of the next event.
  private long next;
  private int handedOver;
  private int unsettled;
  private boolean over;
  private long extendedAt;

  WorkerFeed(
      WorkerLine line, long number, int attempt, long from, FedItem.Events fed, long arrivedAt) {
    this.line = line;
    this.number = number;
    this.attempt = attempt;
    this.bytes = fed.bytes();
    this.next = from;
    this.to = fed.to();
    this.arrivedAt = arrivedAt;
    this.extendedAt = arrivedAt;
    events.begin(fed);
  }

  /** Takes the next event; null if none waits. */
  @Nullable OpenDelivery take(WorkerState worker) {
    ReceivedEvent event = over ? null : events.next();
    if (event == null) {
      over = true;
      return null;
    }
    next = event.position() + 1;
    unsettled++;
    return new OpenDelivery(worker, this, handedOver++, event);
  }

  /** Gives back the events that wait; null if there are none. */
  @Nullable SettledRange release() {
    boolean none = over || next > to;
    over = true;
    return none
        ? null
        : new SettledRange(
            this, handedOver, Integer.MAX_VALUE, next, to, SettleOutcome.RELEASE, -1, "");
  }

  /** Drops the events that wait. */
  void drop() {
    over = true;
  }

  /** Notes that an event that a handler has is settled. */
  void settled() {
    unsettled--;
  }

  /** Notes that the ack timeout of an event begins again. */
  void extended(long nowNanos) {
    extendedAt = nowNanos;
  }

  /** Returns whether a position of it waits. */
  boolean waits() {
    return !over && next <= to;
  }

  boolean isOver() {
    return over;
  }

  /** Returns whether no event of it waits, or is not settled. */
  boolean isSettled() {
    return over && unsettled == 0;
  }

  /** Returns how long the events that wait have waited, in nanoseconds. */
  long waited(long nowNanos) {
    return nowNanos - arrivedAt;
  }

  /** Returns the time since the last ack timeout began, in nanoseconds. */
  long age(long nowNanos) {
    return nowNanos - extendedAt;
  }
}
