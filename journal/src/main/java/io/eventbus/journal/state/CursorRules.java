package io.eventbus.journal.state;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.codec.ShardRecord.AttachCursor;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DetachCursor;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;

/**
 * Rules of all cursors, and of exclusive ones. A cursor's epoch grows with each consumer, and is
 * used for no other cursor of its journal: also one of the same name that was deleted and created
 * again has others. Its owner is the process whose consumer it is: others get it only when it has
 * none, or in place of the consumer that they name.
 */
final class CursorRules {
  private final ShardContext context;
  private final CursorTable table;

  CursorRules(ShardContext context, CursorTable table) {
    this.context = context;
    this.table = table;
  }

  RecordResult create(CreateCursor record) {
    Journal journal = context.journal(record.journal());
    if (journal == null) {
      return ShardContext.noJournal(record.journal());
    }
    CursorRow present = table.get(journal, record.name());
    if (present != null) {
      if (present.filter().equals(record.filter()) && present.mode() == record.mode()) {
        return CursorTable.state(present);
      }
      return new Refused(
          JournalRefusalReason.CURSOR_EXISTS,
          "cursor: "
              + record.name()
              + " of "
              + journal.shown()
              + " has the filter "
              + present.filter()
              + " and the mode "
              + present.mode()
              + " (expected: a new name, or this filter and mode)");
    }
    JournalCounters counters = journal.counters();
    if (counters.cursors >= context.limits.cursors()) {
      return PublishRules.full(
          "cursors of " + journal.shown(), counters.cursors + 1, "" + context.limits.cursors());
    }
    long next = counters.lastPosition + 1;
    if (record.start() == CursorStart.POSITION && record.position() > next) {
      return noPosition("position", record.position(), journal, next);
    }
    long first =
        switch (record.start()) {
          case NEW -> next;
          case FIRST -> counters.firstPosition;
          case POSITION -> Math.max(record.position(), counters.firstPosition);
        };
    counters.cursors++;
    long epoch = ++counters.lastEpoch;
    boolean shared = record.mode() != CursorMode.EXCLUSIVE;
    return put(
        journal,
        record.name(),
        new CursorRow(
            record.filter(),
            record.mode(),
            epoch,
            first - 1,
            epoch,
            "",
            context.stamp,
            shared ? SharedCounts.from(first - 1) : SharedCounts.NONE));
  }

  RecordResult attach(AttachCursor record) {
    return table.change(
        record, CursorMode.EXCLUSIVE, (journal, cursor) -> attach(record, journal, cursor));
  }

  private RecordResult attach(AttachCursor record, Journal journal, CursorRow cursor) {
    boolean free = cursor.owner().isEmpty() || cursor.owner().equals(record.owner());
    if (!free && cursor.epoch() != record.replaces()) {
      return new Refused(
          JournalRefusalReason.CURSOR_TAKEN,
          "owner: "
              + record.owner()
              + " for cursor "
              + record.name()
              + " of "
              + journal.shown()
              + " (expected: "
              + cursor.owner()
              + ", which has it with the epoch "
              + cursor.epoch()
              + ")");
    }
    long epoch = ++journal.counters().lastEpoch;
    return put(journal, record.name(), cursor.withConsumer(epoch, record.owner(), context.stamp));
  }

  RecordResult detach(DetachCursor record) {
    return table.change(
        record, CursorMode.EXCLUSIVE, (journal, cursor) -> detach(record, journal, cursor));
  }

  private RecordResult detach(DetachCursor record, Journal journal, CursorRow cursor) {
    if (cursor.epoch() != record.epoch()) {
      return CursorTable.staleEpoch(journal, record, record.epoch(), "" + cursor.epoch());
    }
    return put(journal, record.name(), cursor.withConsumer(cursor.epoch(), "", context.stamp));
  }

  RecordResult settle(SettleCursor record) {
    return table.change(
        record, CursorMode.EXCLUSIVE, (journal, cursor) -> settle(record, journal, cursor));
  }

  private RecordResult settle(SettleCursor record, Journal journal, CursorRow cursor) {
    if (cursor.epoch() != record.epoch()) {
      return CursorTable.staleEpoch(journal, record, record.epoch(), "" + cursor.epoch());
    }
    if (record.upTo() > journal.counters().lastPosition) {
      return noPosition("upTo", record.upTo(), journal, journal.counters().lastPosition);
    }
    long floor = Math.max(cursor.floor(), record.upTo());
    return put(journal, record.name(), cursor.withFloor(floor, context.stamp));
  }

  RecordResult delete(DeleteCursor record) {
    return table.change(record, (journal, cursor) -> delete(record, journal, cursor));
  }

  private RecordResult delete(DeleteCursor record, Journal journal, CursorRow cursor) {
    if (record.epoch() != 0 && record.epoch() != cursor.epoch()) {
      return CursorTable.staleEpoch(journal, record, record.epoch(), "" + cursor.epoch());
    }
    journal.counters().cursors--;
    context.changed(journal);
    table.delete(journal, record.name(), cursor);
    return new Done();
  }

  private CursorState put(Journal journal, String name, CursorRow cursor) {
    table.put(journal, name, cursor);
    context.changed(journal);
    return CursorTable.state(cursor);
  }

  static Refused noPosition(String field, long position, Journal journal, long max) {
    return new Refused(
        JournalRefusalReason.NO_POSITION,
        field + ": " + position + " in " + journal.shown() + " (expected: at most " + max + ")");
  }
}
