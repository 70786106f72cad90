package io.eventbus.client.internal.durable;

import io.eventbus.client.EventBusException;
import io.eventbus.schema.SettleOutcome;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Worker at the bus of one connection, from the bus's answer to Consume on: its credit, and the
 * settlements of what came over it. Guarded by the lock of its {@link WorkerFeeds}, which runs the
 * tasks that it leaves.
 */
final class WorkerLine {
  /** Size from which settlements are sent in another message: each bus accepts as much. */
  private static final int MESSAGE_BYTES = 8 * 1024;

  private final FeedLine line;
  private final FeedCredit credit;
  private final WorkerState worker;
  private final long creation;
  private final List<Runnable> tasks;
  private final List<SettledRange> waiting = new ArrayList<>();
  private final SettleAnswers answers = new SettleAnswers();
  private boolean lost;
  private boolean leaving;

  /**
   * Creates the state of a worker that the bus has accepted.
   *
   * @param limit bytes that Consume has granted
   * @param step bytes by which that is raised at least
   * @param creation of the journal; 0 if it is not known
   * @param tasks what has to be done outside of the lock
   */
  WorkerLine(
      FeedLine line,
      WorkerState worker,
      long limit,
      long step,
      long creation,
      List<Runnable> tasks) {
    this.line = line;
    this.worker = worker;
    this.credit = new FeedCredit(line, worker.id(), step, limit);
    this.creation = creation;
    this.tasks = tasks;
  }

  boolean isLeaving() {
    return leaving;
  }

  /** Notes that events that come are given back. */
  void leave() {
    leaving = true;
  }

  /** Notes that nothing that came over it can be settled any more. */
  void lose() {
    lost = true;
    for (SettledRange range : waiting) {
      if (range.outcome() != SettleOutcome.RELEASE && range.outcome() != SettleOutcome.EXTEND) {
        worker.counts().late.add(range.events());
      }
    }
    waiting.clear();
    for (CompletableFuture<Void> stage : answers.end()) {
      fail(stage, unknown());
    }
  }

  private static EventBusException unknown() {
    return new EventBusException.ConnectionLost(
        "the connection that brought the event has ended: it is not known whether it is settled"
            + " (expected: it may come again)");
  }

  private void fail(CompletableFuture<Void> stage, EventBusException failure) {
    tasks.add(worker.failure(stage, failure));
  }

  /** Counts bytes that have come. */
  void received(int bytes) {
    credit.received(bytes);
  }

  /** Grants credit for the bytes that may come now. */
  void raise(long room) {
    Runnable task = leaving ? null : credit.raise(room);
    if (task != null) {
      tasks.add(task);
    }
  }

  // ---- Settlements

  /** Settles events with the next {@link #flush}. */
  void settle(SettledRange range) {
    waiting.add(range);
  }

  /** Settles an event with the next {@link #flush}, or counts it if that is too late. */
  void settle(OpenDelivery delivery, SettledRange range) {
    if (lost) {
      worker.counts().late.increment();
    } else {
      settle(range);
    }
  }

  /** Settles an event with an answer, as soon as the bus takes it. */
  void settleConfirmed(OpenDelivery delivery, CompletableFuture<Void> stage) {
    if (lost) {
      worker.counts().late.increment();
      fail(stage, unknown());
    } else {
      answers.add(new SettleAnswers.Confirmed(delivery.range(SettleOutcome.DONE, -1, ""), stage));
      flush();
    }
  }

  /** Begins the ack timeout of an event again; returns false if that is too late. */
  boolean extend(OpenDelivery delivery) {
    if (!lost) {
      settle(delivery.range(SettleOutcome.EXTEND, -1, ""));
    }
    return !lost;
  }

  /** Notes that a settlement is stored. */
  void settled(long position) {
    SettleAnswers.Confirmed settlement = answers.confirmed(position);
    if (settlement != null) {
      tasks.add(worker.success(settlement.stage()));
      answered();
    }
  }

  /** Notes that a settlement is refused; returns false if none waits for an answer. */
  boolean refused(EventBusException failure) {
    boolean expected = answers.refuse(failure);
    if (expected) {
      answered();
    }
    return expected;
  }

  private void answered() {
    for (SettleAnswers.Refused refused : answers.refused()) {
      fail(refused.stage(), refused.failure());
    }
    flush();
  }

  /** Sends what waits. */
  void flush() {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    for (SettledRange range : merged()) {
      add(range, false, message);
    }
    SettleAnswers.Confirmed next = answers.next();
    while (next != null) {
      add(next.range(), true, message);
      next = answers.next();
    }
    send(message);
  }

  private void add(SettledRange range, boolean confirm, ByteArrayOutputStream message) {
    worker.counts().settled(range);
    byte[] frame = range.frame(worker.id(), confirm, creation);
    if (message.size() + frame.length > MESSAGE_BYTES) {
      send(message);
    }
    message.writeBytes(frame);
  }

  private void send(ByteArrayOutputStream message) {
    if (message.size() > 0) {
      byte[] frames = message.toByteArray();
      message.reset();
      tasks.add(() -> line.send(frames));
    }
  }

  private List<SettledRange> merged() {
    waiting.sort(SettledRange.ORDER);
    List<SettledRange> merged = new ArrayList<>();
    for (SettledRange range : waiting) {
      int last = merged.size() - 1;
      SettledRange both = last < 0 ? null : merged.get(last).with(range);
      if (both == null) {
        merged.add(range);
      } else {
        merged.set(last, both);
      }
    }
    waiting.clear();
    return merged;
  }
}
