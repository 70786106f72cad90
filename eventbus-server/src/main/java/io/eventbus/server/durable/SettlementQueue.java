package io.eventbus.server.durable;

import io.eventbus.journal.RecordResult;
import io.eventbus.journal.Settlement;
import io.eventbus.server.memory.BusMemory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settlements of one consumer on their way to the journal: while one record is under way, the next
 * one is collected. A record without an answer is sent again until the consumer ends: what it
 * settles twice counts once. Confined to the loop.
 */
final class SettlementQueue {
  /** Heap of a settlement, about. */
  private static final int SETTLEMENT_BYTES = 96;

  /** Target of the records, and receiver of the answers. */
  interface Target {
    /** Sends a record; {@link #answered} gets the answer. */
    void send(Batch batch);

    /** Calls {@link SettlementQueue#again} later. */
    void retry();

    /** Called when so many positions are settled. */
    void stored(int positions);

    /** Called when a settlement is stored whose client waits for the answer. */
    void settled(long upTo);

    /** Called when it is not known whether such a settlement is stored. */
    void unsettled(@Nullable RecordResult refused, @Nullable Throwable failure);

    /** Called when the journal has refused a record. */
    void refused(RecordResult.Refused refused);
  }

  /** Settlements of one record. */
  static final class Batch {
    final List<Settlement> settlements = new ArrayList<>();
    final List<Long> confirmations = new ArrayList<>(0);
    long serial;
    private int bytes;
  }

  private final BusMemory memory;
  private final Target target;
  private Batch open = new Batch();
  private @Nullable Batch underWay;
  private long serial;
  private boolean waits;
  private boolean closed;
  private int confirmations;

  SettlementQueue(BusMemory memory, Target target) {
    this.memory = memory;
    this.target = target;
  }

  /** Returns the number of clients' settlements that wait for their answer. */
  int confirmations() {
    return confirmations;
  }

  /** Returns whether everything that was added is stored. */
  boolean isEmpty() {
    return underWay == null && open.settlements.isEmpty();
  }

  /** Adds a settlement of events that the consumer has; {@link #flush} sends it. */
  void add(
      long from,
      long to,
      int attempt,
      Settlement.Outcome outcome,
      long delayMillis,
      String reason) {
    List<Settlement> all = open.settlements;
    Settlement last = all.isEmpty() ? null : all.get(all.size() - 1);
    if (last != null
        && last.to() == from - 1
        && last.attempt() == attempt
        && last.outcome() == outcome
        && last.delayMillis() == delayMillis
        && last.reason().equals(reason)) {
      all.set(
          all.size() - 1,
          new Settlement(last.from(), to, attempt, outcome, delayMillis, last.reason()));
      return;
    }
    all.add(new Settlement(from, to, attempt, outcome, delayMillis, reason));
    int bytes = SETTLEMENT_BYTES + reason.getBytes(StandardCharsets.UTF_8).length;
    open.bytes += bytes;
    memory.reserve(bytes);
  }

  /** Asks for an answer when everything is stored that was added before, which is not nothing. */
  void confirm(long upTo) {
    open.confirmations.add(upTo);
    confirmations++;
  }

  /** Sends what was added, unless a record is under way. */
  void flush() {
    if (underWay == null && !open.settlements.isEmpty()) {
      send();
    }
  }

  private void send() {
    Batch batch = open;
    open = new Batch();
    batch.serial = ++serial;
    underWay = batch;
    target.send(batch);
  }

  /** Sends a record again that has got no answer. */
  void again() {
    Batch batch = underWay;
    if (waits && batch != null) {
      waits = false;
      target.send(batch);
    }
  }

  /** Takes the answer to a record. */
  void answered(Batch batch, @Nullable RecordResult result, @Nullable Throwable failure) {
    confirmations -= batch.confirmations.size();
    List<Long> waiting = List.copyOf(batch.confirmations);
    batch.confirmations.clear();
    if (result == null && !closed) {
      waiting.forEach(upTo -> target.unsettled(null, failure));
      waits = true;
      target.retry();
      return;
    }
    memory.release(batch.bytes);
    if (underWay == batch) {
      underWay = null;
    }
    if (result instanceof RecordResult.Settled) {
      // Before the consumer may end.
      waiting.forEach(target::settled);
      target.stored(batch.settlements.stream().mapToInt(SettlementQueue::positions).sum());
      if (!closed) {
        flush();
      }
    } else {
      waiting.forEach(upTo -> target.unsettled(result, failure));
      if (result instanceof RecordResult.Refused refused && !closed) {
        target.refused(refused);
      }
    }
  }

  private static int positions(Settlement settlement) {
    return (int) (settlement.to() - settlement.from() + 1);
  }

  /** Sends everything at once, for the last time: the consumer has ended. */
  void close() {
    closed = true;
    again();
    if (!open.settlements.isEmpty()) {
      send();
    }
  }
}
