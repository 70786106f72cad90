package io.eventbus.journal.state;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.SlotEnd;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.ShardRecord.CursorRecord;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.SettleSlots;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.protocol.MalformedFrameException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rules of key-shared cursors. Each slot has one consumer, which reads the events of its slots and
 * says how far it has come. When others join or leave, slots get other consumers: at once from one
 * that has left, else when the consumer gives them up.
 */
final class KeySharedRules {
  private final ShardContext context;
  private final CursorTable table;

  KeySharedRules(ShardContext context, CursorTable table) {
    this.context = context;
    this.table = table;
  }

  /** Returns whether the cursor of a record is key-shared. */
  boolean isOf(CursorRecord record) {
    Journal journal = context.journal(record.journal());
    CursorRow cursor = journal == null ? null : table.get(journal, record.name());
    return cursor != null && cursor.mode() == CursorMode.KEY_SHARED;
  }

  RecordResult join(JoinCursor record) {
    return table.change(
        record, CursorMode.KEY_SHARED, (journal, cursor) -> join(record, journal, cursor));
  }

  private RecordResult join(JoinCursor record, Journal journal, CursorRow cursor) {
    int consumers = cursor.shared().consumers() + 1;
    if (consumers > context.limits.consumers()) {
      return SharedCursorRules.tooManyConsumers(context, record, journal, consumers);
    }
    long epoch = ++journal.counters().lastEpoch;
    context.changed(journal);
    Open open = new Open(journal, record, cursor.withConsumer(epoch, "", context.stamp));
    open.put(epoch, SlotConsumerRow.of(record.owner(), record.maxAttempts()));
    SlotStates free = open.slots.free();
    open.slots = open.slots.joined(epoch);
    if (free != null) {
      for (int slot = 0; slot < SlotState.SLOTS; slot++) {
        open.give(slot, free.of(slot));
      }
    }
    open.consumers = consumers;
    open.store(true);
    return new CursorState(epoch, cursor.shared().head());
  }

  RecordResult leave(LeaveCursor record) {
    return table.change(
        record, CursorMode.KEY_SHARED, (journal, cursor) -> leave(record, journal, cursor));
  }

  private RecordResult leave(LeaveCursor record, Journal journal, CursorRow cursor) {
    Open open = new Open(journal, record, cursor);
    SlotConsumerRow consumer = open.consumer(record.epoch());
    if (consumer == null) {
      return new Done();
    }
    NavigableMap<Integer, SlotState> left = new TreeMap<>();
    for (int slot = 0; slot < SlotState.SLOTS; slot++) {
      if (open.slots.owner(slot) == record.epoch()) {
        SlotState state = consumer.states().of(slot);
        left.put(slot, record.failed() ? state.withCare(journal.counters().lastPosition) : state);
      }
    }
    context.cache.delete(open.consumerKey(record.epoch()));
    open.consumers--;
    if (open.consumers == 0) {
      // The last consumer has all slots.
      long upTo = consumer.states().upTo();
      left.values().removeIf(SlotState.at(upTo)::equals);
      open.slots = open.slots.leftByAll(new SlotStates(upTo, left));
    } else {
      open.slots = open.slots.left(record.epoch());
      left.forEach(open::give);
    }
    open.store(true);
    return new Done();
  }

  RecordResult settle(SettleSlots record) {
    return table.change(
        record, CursorMode.KEY_SHARED, (journal, cursor) -> settle(record, journal, cursor));
  }

  private RecordResult settle(SettleSlots record, Journal journal, CursorRow cursor) {
    Open open = new Open(journal, record, cursor);
    SlotConsumerRow before = open.consumer(record.epoch());
    if (before == null) {
      return SharedCursorRules.unknown(journal, record, record.epoch());
    }
    SlotProgress progress = record.progress();
    long last = journal.counters().lastPosition;
    long max = progress.upTo();
    for (SlotState state : progress.exceptions().values()) {
      max = Math.max(max, state.floor());
    }
    if (max > last) {
      return CursorRules.noPosition("upTo", max, journal, last);
    }
    if (progress.serial() <= before.serial()) {
      return new Done();
    }
    NavigableMap<Integer, SlotState> exceptions = new TreeMap<>();
    NavigableMap<Integer, Long> gifts = new TreeMap<>();
    NavigableMap<Integer, SlotState> given = new TreeMap<>();
    for (int slot = 0; slot < SlotState.SLOTS; slot++) {
      if (open.slots.owner(slot) != record.epoch()) {
        continue;
      }
      SlotState state = before.states().of(slot);
      long gift = before.gifts().getOrDefault(slot, 0L);
      if (gift > progress.generation()) {
        gifts.put(slot, gift);
      } else {
        state = next(state, progress, slot);
        if (progress.given().contains(slot)) {
          given.put(slot, state);
        }
      }
      if (!given.containsKey(slot) && (gifts.containsKey(slot) || !isPlain(state, progress))) {
        exceptions.put(slot, state);
      }
    }
    open.put(
        record.epoch(),
        new SlotConsumerRow(
            before.owner(),
            before.maxAttempts(),
            progress.serial(),
            before.generation(),
            new SlotStates(progress.upTo(), exceptions),
            gifts));
    boolean ended = false;
    for (SlotEnd end : progress.ends()) {
      if (end.serial() > before.serial() && open.slots.owner(end.slot()) == record.epoch()) {
        open.end(end);
        ended = true;
      }
    }
    if (!given.isEmpty()) {
      open.slots = open.slots.given(given.keySet());
      given.forEach(open::give);
    }
    if (ended || !given.isEmpty()) {
      open.store(!given.isEmpty());
    } else if (context.stamp - cursor.stamp() >= SharedCursorRules.USED_STEP_MILLIS) {
      open.store(false);
    } else {
      open.storeConsumers();
    }
    return new Done();
  }

  private SlotState next(SlotState before, SlotProgress progress, int slot) {
    SlotState told = progress.exceptions().get(slot);
    SlotState state = told == null ? SlotState.at(progress.upTo()) : told;
    return state
        .withFloor(Math.max(before.floor(), state.floor()))
        .withDue(state.due() == 0 ? 0 : context.stamp + state.due());
  }

  private static boolean isPlain(SlotState state, SlotProgress progress) {
    return state.equals(SlotState.at(progress.upTo()));
  }

  RecordResult redrive(Redrive record) {
    return table.change(
        record, CursorMode.KEY_SHARED, (journal, cursor) -> redrive(record, journal, cursor));
  }

  private RecordResult redrive(Redrive record, Journal journal, CursorRow cursor) {
    long end = Math.min(record.to(), journal.counters().lastPosition) + 1;
    if (cursor.shared().dead() == 0 || record.from() >= end) {
      return new Redriven(0, 0);
    }
    Open open = new Open(journal, record, cursor);
    Map<Long, DeadRow> found = new TreeMap<>();
    long next = 0;
    try (RowScan scan =
        context.rows.scan(
            Keys.dead(journal.number(), cursor.number(), record.from()),
            Keys.dead(journal.number(), cursor.number(), end))) {
      while (next == 0 && scan.next()) {
        long position = Keys.lastNumber(scan.key());
        if (found.size() == SharedCursorRules.MAX_REDRIVEN) {
          next = position;
        } else {
          found.put(position, decode(scan));
        }
      }
    }
    if (!found.isEmpty()) {
      found.forEach((position, dead) -> open.redrive(position, dead.slot(), record.discard()));
      open.store(!record.discard());
    }
    return new Redriven(found.size(), next);
  }

  private static DeadRow decode(RowScan scan) {
    try {
      return DeadRow.decode(scan.value());
    } catch (MalformedFrameException e) {
      throw RowCache.damaged(scan.key(), e);
    }
  }

  /** Cursor while a record changes it. */
  private final class Open {
    private final Journal journal;
    private final CursorRecord record;
    private final CursorRow cursor;
    private final SlotsRow before;
    private SlotsRow slots;
    private int consumers;
    private long waiting;
    private long dead;
    // By epoch; what is given to each.
    private final Map<Long, SlotConsumerRow> changed = new TreeMap<>();
    private final Map<Long, NavigableMap<Integer, SlotState>> gifts = new TreeMap<>();

    Open(Journal journal, CursorRecord record, CursorRow cursor) {
      this.journal = journal;
      this.record = record;
      this.cursor = cursor;
      SlotsRow found =
          context.cache.get(context.rows, consumerKey(0), SlotsRow.class, SlotsRow::decode);
      before = found == null ? SlotsRow.from(cursor.shared().head()) : found;
      slots = before;
      consumers = cursor.shared().consumers();
      waiting = cursor.shared().waiting();
      dead = cursor.shared().dead();
    }

    byte[] consumerKey(long epoch) {
      return Keys.consumer(journal.number(), cursor.number(), epoch);
    }

    @Nullable SlotConsumerRow consumer(long epoch) {
      SlotConsumerRow row = changed.get(epoch);
      return epoch == 0 || row != null
          ? row
          : context.cache.get(
              context.rows, consumerKey(epoch), SlotConsumerRow.class, SlotConsumerRow::decode);
    }

    void put(long epoch, SlotConsumerRow consumer) {
      changed.put(epoch, consumer);
    }

    /** Gives a slot to the consumer that has it now. */
    void give(int slot, SlotState state) {
      gifts.computeIfAbsent(slots.owner(slot), epoch -> new TreeMap<>()).put(slot, state);
    }

    /** Ends a dead letter that has come again, and buries what is dead. */
    void end(SlotEnd end) {
      int number = journal.number();
      if (end.again()) {
        context.rows.delete(Keys.waiting(number, cursor.number(), end.slot(), end.position()));
        waiting--;
      }
      if (end.attempts() > 0) {
        context.rows.put(
            Keys.dead(number, cursor.number(), end.position()),
            new DeadRow(end.attempts(), end.reason(), context.stamp, end.slot()).encode());
        dead++;
      }
    }

    void redrive(long position, int slot, boolean discard) {
      int number = journal.number();
      context.rows.delete(Keys.dead(number, cursor.number(), position));
      dead--;
      if (!discard) {
        WaitingRun run = new WaitingRun(slot, new TakenRun(position, position, 1));
        context.rows.put(Keys.waiting(number, cursor.number(), slot, position), run.encode());
        waiting++;
      }
    }

    /** Stores everything. */
    void store(boolean regrouped) {
      boolean full = waiting + dead >= context.limits.unfinished();
      if (full != slots.isFull()) {
        slots = slots.withFull(full);
      }
      if (slots != before) {
        context.cache.put(consumerKey(0), slots);
      }
      if (regrouped || slots != before) {
        context.regroupedJournals.add(journal.number());
      }
      SharedCounts counts = cursor.shared();
      table.put(
          journal,
          record.name(),
          cursor.withShared(
              new SharedCounts(counts.head(), consumers, 0, waiting, 0, dead), context.stamp));
      storeConsumers();
    }

    void storeConsumers() {
      gifts.forEach(
          (epoch, given) ->
              put(epoch, Objects.requireNonNull(consumer(epoch), "its owner").withGift(given)));
      changed.forEach((epoch, row) -> context.cache.put(consumerKey(epoch), row));
    }
  }
}
