package io.eventbus.journal.state;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Settled;
import io.eventbus.journal.RecordResult.Taken;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.ShardRecord.CursorRecord;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.SettleEvents;
import io.eventbus.journal.codec.ShardRecord.TakeEvents;
import io.eventbus.journal.rows.RowScan;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rules of shared cursors. Nobody hands out events: a consumer takes them by a record, and these
 * rules decide which ones it gets. A consumer that has left, or that never was there, takes and
 * settles nothing.
 */
final class SharedCursorRules {
  /** Maximum number of dead letters that a record returns or removes; part of the rules. */
  static final int MAX_REDRIVEN = 1_000;

  /** Reason of the death of events whose consumer has failed; part of the rules. */
  static final String CONSUMER_LOST = "its consumer was lost";

  /** Maximum size of a run that was given back, at the first delivery; part of the rules. */
  private static final int MAX_RUN = 256;

  // An answer without events changes the time of the last use at most once in this time, so that
  // consumers that ask often write nothing.
  static final long USED_STEP_MILLIS = 60L * 60 * 1000;

  private final ShardContext context;
  private final CursorTable table;
  private final WaitingRuns waitingRuns;

  SharedCursorRules(ShardContext context, CursorTable table) {
    this.context = context;
    this.table = table;
    waitingRuns = new WaitingRuns(context);
  }

  RecordResult join(JoinCursor record) {
    return table.change(
        record, CursorMode.SHARED, (journal, cursor) -> join(record, journal, cursor));
  }

  private RecordResult join(JoinCursor record, Journal journal, CursorRow cursor) {
    int consumers = cursor.shared().consumers() + 1;
    if (consumers > context.limits.consumers()) {
      return tooManyConsumers(context, record, journal, consumers);
    }
    long epoch = ++journal.counters().lastEpoch;
    context.changed(journal);
    context.cache.put(
        Keys.consumer(journal.number(), cursor.number(), epoch),
        new ConsumerRow(record.owner(), record.maxAttempts(), 0, 0, List.of()));
    table.put(
        journal,
        record.name(),
        cursor
            .withConsumer(epoch, "", context.stamp)
            .withShared(cursor.shared().withConsumers(consumers), context.stamp));
    return new CursorState(epoch, cursor.shared().head());
  }

  static Refused tooManyConsumers(
      ShardContext context, JoinCursor record, Journal journal, int consumers) {
    return PublishRules.full(
        "consumers of cursor " + record.name() + " of " + journal.shown(),
        consumers,
        "" + context.limits.consumers());
  }

  static Refused unknown(Journal journal, CursorRecord record, long epoch) {
    return CursorTable.staleEpoch(journal, record, epoch, "that of a consumer, which has joined");
  }

  RecordResult take(TakeEvents record) {
    return table.change(
        record, CursorMode.SHARED, (journal, cursor) -> take(record, journal, cursor));
  }

  private RecordResult take(TakeEvents record, Journal journal, CursorRow cursor) {
    Open open = new Open(journal, record, cursor);
    ConsumerRow consumer = open.consumer(record.epoch());
    if (consumer == null) {
      return open.unknown(record.epoch());
    }
    if (record.serial() <= consumer.taken()) {
      // What it took the first time was told then.
      return new Taken(List.of(), open.nextDue());
    }
    long available = journal.counters().lastPosition - open.head + open.waiting;
    long share = 2L * cursor.shared().consumers();
    // Few events are spread over the consumers, of many each gets a large part.
    long fair = Math.max(1, (available + share - 1) / share);
    long room = Math.min(record.max(), ShardLimits.MAX_IN_FLIGHT - consumer.events());
    List<TakenRun> taken = open.take((int) Math.min(room, fair));
    if (taken.isEmpty()) {
      open.touch();
    } else {
      RunList runs = new RunList(consumer.runs());
      taken.forEach(runs::add);
      open.put(record.epoch(), consumer.afterTake(record.serial(), runs.toList()));
      open.store();
    }
    return new Taken(taken, open.nextDue());
  }

  RecordResult settle(SettleEvents record) {
    return table.change(
        record, CursorMode.SHARED, (journal, cursor) -> settle(record, journal, cursor));
  }

  private RecordResult settle(SettleEvents record, Journal journal, CursorRow cursor) {
    Open open = new Open(journal, record, cursor);
    ConsumerRow consumer = open.consumer(record.epoch());
    if (consumer == null) {
      return open.unknown(record.epoch());
    }
    if (record.serial() <= consumer.settled() && !record.settlements().isEmpty()) {
      return new Settled(0);
    }
    RunList runs = new RunList(consumer.runs());
    long ignored = 0;
    boolean changed = false;
    for (Settlement each : record.settlements()) {
      long left = each.to() - each.from() + 1;
      for (TakenRun run : runs.cut(each.from(), each.to(), each.attempt())) {
        changed = true;
        left -= run.events();
        open.settle(run, each, consumer.maxAttempts());
      }
      ignored += Math.min(left, Integer.MAX_VALUE);
    }
    if (changed) {
      open.put(record.epoch(), consumer.afterSettlement(record.serial(), runs.toList()));
      open.store();
    } else {
      open.touch();
    }
    return new Settled((int) Math.min(ignored, Integer.MAX_VALUE));
  }

  RecordResult leave(LeaveCursor record) {
    return table.change(
        record, CursorMode.SHARED, (journal, cursor) -> leave(record, journal, cursor));
  }

  private RecordResult leave(LeaveCursor record, Journal journal, CursorRow cursor) {
    Open open = new Open(journal, record, cursor);
    ConsumerRow consumer = open.consumer(record.epoch());
    if (consumer == null) {
      return new Done();
    }
    for (TakenRun run : consumer.runs()) {
      open.inFlight -= run.events();
      if (record.failed()) {
        open.fail(run, context.stamp, CONSUMER_LOST, consumer.maxAttempts());
      } else {
        open.giveBack(run, run.attempt(), context.stamp);
      }
    }
    open.consumers--;
    context.cache.delete(open.consumerKey(record.epoch()));
    open.store();
    return new Done();
  }

  RecordResult redrive(Redrive record) {
    return table.change(
        record, CursorMode.SHARED, (journal, cursor) -> redrive(record, journal, cursor));
  }

  private RecordResult redrive(Redrive record, Journal journal, CursorRow cursor) {
    long end = Math.min(record.to(), journal.counters().lastPosition) + 1;
    if (cursor.shared().dead() == 0 || record.from() >= end) {
      return new Redriven(0, 0);
    }
    Open open = new Open(journal, record, cursor);
    List<Long> positions = new ArrayList<>();
    long next = 0;
    try (RowScan scan =
        context.rows.scan(
            Keys.dead(journal.number(), cursor.number(), record.from()),
            Keys.dead(journal.number(), cursor.number(), end))) {
      while (next == 0 && scan.next()) {
        long position = Keys.lastNumber(scan.key());
        if (positions.size() == MAX_REDRIVEN) {
          next = position;
        } else {
          positions.add(position);
        }
      }
    }
    if (!positions.isEmpty()) {
      open.redrive(positions, record.discard());
      open.store();
    }
    return new Redriven(positions.size(), next);
  }

  /** Cursor while a record changes it. */
  private final class Open {
    private final Journal journal;
    private final CursorRecord record;
    private final CursorRow cursor;
    private long head;
    private int consumers;
    private long inFlight;
    private long waiting;
    private long waitingFrom;
    private long dead;

    Open(Journal journal, CursorRecord record, CursorRow cursor) {
      this.journal = journal;
      this.record = record;
      this.cursor = cursor;
      SharedCounts counts = cursor.shared();
      head = counts.head();
      consumers = counts.consumers();
      inFlight = counts.inFlight();
      waiting = counts.waiting();
      waitingFrom = counts.waitingFrom();
      dead = counts.dead();
    }

    byte[] consumerKey(long epoch) {
      return Keys.consumer(journal.number(), cursor.number(), epoch);
    }

    @Nullable ConsumerRow consumer(long epoch) {
      return context.cache.get(
          context.rows, consumerKey(epoch), ConsumerRow.class, ConsumerRow::decode);
    }

    Refused unknown(long epoch) {
      return SharedCursorRules.unknown(journal, record, epoch);
    }

    void put(long epoch, ConsumerRow consumer) {
      context.cache.put(consumerKey(epoch), consumer);
    }

    /** Stores the cursor with its figures. */
    void store() {
      table.put(
          journal,
          record.name(),
          cursor.withShared(
              new SharedCounts(
                  head, consumers, inFlight, waiting, waiting == 0 ? 0 : waitingFrom, dead),
              context.stamp));
    }

    /** Stores that the cursor is in use, if that was not stored for long. */
    void touch() {
      if (context.stamp - cursor.stamp() >= USED_STEP_MILLIS) {
        store();
      }
    }

    /** Takes up to a number of events, first those that were given back. */
    List<TakenRun> take(int max) {
      List<TakenRun> taken = new ArrayList<>();
      int left = max;
      if (left > 0 && waiting > 0 && waitingFrom <= context.stamp) {
        int runs = Math.min(left, Taken.MAX_RUNS);
        List<WaitingRun> due =
            waitingRuns.due(journal.number(), cursor.number(), waitingFrom, context.stamp, runs);
        waitingFrom = due.size() < runs ? context.stamp + 1 : due.get(runs - 1).due();
        for (WaitingRun each : due) {
          TakenRun run = left == 0 ? null : take(each, left);
          if (run != null) {
            taken.add(run);
            left -= run.events();
          }
          if (run == null || run.events() < each.run().events()) {
            waitingFrom = Math.min(waitingFrom, each.due());
          }
        }
      }
      long fresh = Math.min(left, journal.counters().lastPosition - head);
      if (fresh > 0
          && taken.size() < Taken.MAX_RUNS
          && waiting + dead < context.limits.unfinished()) {
        taken.add(new TakenRun(head + 1, head + fresh, 1));
        head += fresh;
        inFlight += fresh;
      }
      return taken;
    }

    /**
     * Takes the beginning of a run that was given back. The more often its events have failed, the
     * fewer are taken together, and one alone at last: an event that ends its consumers takes no
     * others with it.
     */
    private TakenRun take(WaitingRun from, int max) {
      TakenRun run = from.run();
      int most = Math.max(1, MAX_RUN >> Math.min(4 * (run.attempt() - 1), Integer.SIZE - 1));
      int events = Math.min(run.events(), Math.min(max, most));
      long end = run.from() + events;
      waitingRuns.remove(journal.number(), cursor.number(), from);
      if (end <= run.to()) {
        waitingRuns.put(
            journal.number(),
            cursor.number(),
            new WaitingRun(from.due(), new TakenRun(end, run.to(), run.attempt())));
      }
      waiting -= events;
      inFlight += events;
      return new TakenRun(run.from(), end - 1, run.attempt());
    }

    /** Returns when the next event is due that waits for its time; 0 for none. */
    long nextDue() {
      return waiting == 0
          ? 0
          : waitingRuns.nextDue(
              journal.number(), cursor.number(), Math.max(waitingFrom, context.stamp + 1));
    }

    void settle(TakenRun run, Settlement settlement, int maxAttempts) {
      inFlight -= run.events();
      switch (settlement.outcome()) {
        case DONE -> {}
        case RETRY -> {
          long delay =
              settlement.delayMillis() >= 0
                  ? settlement.delayMillis()
                  : Settlement.backOffMillis(run.attempt());
          fail(run, context.stamp + delay, settlement.reason(), maxAttempts);
        }
        case REJECT -> bury(run, settlement.reason());
        case RELEASE -> giveBack(run, run.attempt(), context.stamp);
      }
    }

    /** Gives back what was delivered without success, for another delivery if there is one. */
    void fail(TakenRun run, long due, String reason, int maxAttempts) {
      if (run.attempt() >= maxAttempts) {
        bury(run, reason);
      } else {
        giveBack(run, run.attempt() + 1, due);
      }
    }

    void giveBack(TakenRun run, int attempt, long due) {
      waitingRuns.put(
          journal.number(),
          cursor.number(),
          new WaitingRun(due, new TakenRun(run.from(), run.to(), attempt)));
      waitingFrom = waiting == 0 ? due : Math.min(waitingFrom, due);
      waiting += run.events();
      context.releasedJournals.add(journal.number());
    }

    private void bury(TakenRun run, String reason) {
      byte[] value = new DeadRow(run.attempt(), reason, context.stamp).encode();
      for (long position = run.from(); position <= run.to(); position++) {
        context.rows.put(Keys.dead(journal.number(), cursor.number(), position), value);
      }
      dead += run.events();
    }

    /** Gives dead letters back as if they had never been delivered, or removes them. */
    void redrive(List<Long> positions, boolean discard) {
      RunList runs = new RunList(List.of());
      for (long position : positions) {
        context.rows.delete(Keys.dead(journal.number(), cursor.number(), position));
        runs.add(new TakenRun(position, position, 1));
      }
      dead -= positions.size();
      if (discard) {
        // Others can be taken if there were too many.
        context.releasedJournals.add(journal.number());
      } else {
        runs.toList().forEach(run -> giveBack(run, 1, context.stamp));
      }
    }
  }
}
