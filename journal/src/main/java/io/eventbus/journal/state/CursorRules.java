package io.eventbus.journal.state;

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
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Rules of cursors. A cursor's epoch grows with each consumer, and is used for no other cursor of
 * its journal: also one of the same name that was deleted and created again has others. Its owner
 * is the process whose consumer it is: others get it only when it has none, or in place of the
 * consumer that they name.
 */
final class CursorRules {
  private final ShardContext context;

  CursorRules(ShardContext context) {
    this.context = context;
  }

  RecordResult create(CreateCursor record) {
    Journal journal = context.journal(record.journal());
    if (journal == null) {
      return ShardContext.noJournal(record.journal());
    }
    CursorRow present = get(journal, record.name());
    if (present != null) {
      if (present.filter().equals(record.filter())) {
        return new CursorState(present.epoch(), present.floor());
      }
      return new Refused(
          JournalRefusalReason.CURSOR_EXISTS,
          "cursor: "
              + record.name()
              + " of "
              + journal.shown()
              + " has the filter "
              + present.filter()
              + " (expected: a new name, or this filter)");
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
    return put(
        journal,
        record.name(),
        new CursorRow(record.filter(), first - 1, ++counters.lastEpoch, "", context.stamp));
  }

  RecordResult attach(AttachCursor record) {
    return change(
        record.journal(), record.name(), (journal, cursor) -> attach(record, journal, cursor));
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
    return put(
        journal,
        record.name(),
        new CursorRow(cursor.filter(), cursor.floor(), epoch, record.owner(), context.stamp));
  }

  RecordResult detach(DetachCursor record) {
    return change(
        record.journal(), record.name(), (journal, cursor) -> detach(record, journal, cursor));
  }

  private RecordResult detach(DetachCursor record, Journal journal, CursorRow cursor) {
    if (cursor.epoch() != record.epoch()) {
      return staleEpoch(journal, record.name(), record.epoch(), cursor);
    }
    return put(
        journal,
        record.name(),
        new CursorRow(cursor.filter(), cursor.floor(), cursor.epoch(), "", context.stamp));
  }

  RecordResult settle(SettleCursor record) {
    return change(
        record.journal(), record.name(), (journal, cursor) -> settle(record, journal, cursor));
  }

  private RecordResult settle(SettleCursor record, Journal journal, CursorRow cursor) {
    if (cursor.epoch() != record.epoch()) {
      return staleEpoch(journal, record.name(), record.epoch(), cursor);
    }
    if (record.upTo() > journal.counters().lastPosition) {
      return noPosition("upTo", record.upTo(), journal, journal.counters().lastPosition);
    }
    long floor = Math.max(cursor.floor(), record.upTo());
    return put(
        journal,
        record.name(),
        new CursorRow(cursor.filter(), floor, cursor.epoch(), cursor.owner(), context.stamp));
  }

  RecordResult delete(DeleteCursor record) {
    return change(
        record.journal(), record.name(), (journal, cursor) -> delete(record, journal, cursor));
  }

  private RecordResult delete(DeleteCursor record, Journal journal, CursorRow cursor) {
    if (record.epoch() != 0 && record.epoch() != cursor.epoch()) {
      return staleEpoch(journal, record.name(), record.epoch(), cursor);
    }
    journal.counters().cursors--;
    context.changed(journal);
    context.cache.delete(Keys.cursor(journal.number(), record.name()));
    return new Done();
  }

  /** Applies a rule to a cursor, or refuses it if there is no such journal or cursor. */
  private RecordResult change(
      int number, String name, BiFunction<Journal, CursorRow, RecordResult> rule) {
    Journal journal = context.journal(number);
    if (journal == null) {
      return ShardContext.noJournal(number);
    }
    CursorRow cursor = get(journal, name);
    return cursor == null ? noCursor(journal, name) : rule.apply(journal, cursor);
  }

  private @Nullable CursorRow get(Journal journal, String name) {
    return context.cache.get(
        context.rows, Keys.cursor(journal.number(), name), CursorRow.class, CursorRow::decode);
  }

  private CursorState put(Journal journal, String name, CursorRow cursor) {
    context.cache.put(Keys.cursor(journal.number(), name), cursor);
    context.changed(journal);
    return new CursorState(cursor.epoch(), cursor.floor());
  }

  private static Refused noCursor(Journal journal, String name) {
    return new Refused(
        JournalRefusalReason.NO_CURSOR,
        "cursor: " + name + " (expected: a cursor of " + journal.shown() + ")");
  }

  private static Refused staleEpoch(Journal journal, String name, long epoch, CursorRow cursor) {
    return new Refused(
        JournalRefusalReason.STALE_EPOCH,
        "epoch: "
            + epoch
            + " for cursor "
            + name
            + " of "
            + journal.shown()
            + " (expected: "
            + cursor.epoch()
            + ")");
  }

  private static Refused noPosition(String field, long position, Journal journal, long max) {
    return new Refused(
        JournalRefusalReason.NO_POSITION,
        field + ": " + position + " in " + journal.shown() + " (expected: at most " + max + ")");
  }
}
