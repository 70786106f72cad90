package io.eventbus.journal.state;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.codec.ShardRecord.CursorRecord;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Cursors of all journals. */
final class CursorTable {
  private final ShardContext context;

  CursorTable(ShardContext context) {
    this.context = context;
  }

  @Nullable CursorRow get(Journal journal, String name) {
    return context.cache.get(
        context.rows, Keys.cursor(journal.number(), name), CursorRow.class, CursorRow::decode);
  }

  /** Takes a row that is new or that has changed. */
  void put(Journal journal, String name, CursorRow cursor) {
    context.cache.put(Keys.cursor(journal.number(), name), cursor);
    context.changedJournals.add(journal.number());
  }

  /** Deletes a cursor with all of its rows. */
  void delete(Journal journal, String name, CursorRow cursor) {
    context.cache.delete(Keys.cursor(journal.number(), name));
    SharedCounts counts = cursor.shared();
    if (counts.consumers() > 0 || cursor.mode() == CursorMode.KEY_SHARED) {
      context.cache.forget(Keys.first(Keys.CONSUMER, journal.number(), cursor.number()));
      deleteRows(Keys.CONSUMER, journal, cursor);
    }
    if (counts.waiting() > 0) {
      deleteRows(Keys.WAITING, journal, cursor);
    }
    if (counts.dead() > 0) {
      deleteRows(Keys.DEAD, journal, cursor);
    }
  }

  private void deleteRows(byte kind, Journal journal, CursorRow cursor) {
    context.rows.deleteRange(
        Keys.first(kind, journal.number(), cursor.number()),
        Keys.end(kind, journal.number(), cursor.number()));
  }

  /**
   * Applies a rule to the cursor of a record, or refuses it if there is no such journal or cursor.
   */
  RecordResult change(CursorRecord record, BiFunction<Journal, CursorRow, RecordResult> rule) {
    Journal journal = context.journal(record.journal());
    if (journal == null) {
      return ShardContext.noJournal(record.journal());
    }
    CursorRow cursor = get(journal, record.name());
    return cursor == null ? noCursor(journal, record.name()) : rule.apply(journal, cursor);
  }

  /** Does what the other method does, and refuses cursors of another mode. */
  RecordResult change(
      CursorRecord record, CursorMode mode, BiFunction<Journal, CursorRow, RecordResult> rule) {
    return change(
        record,
        (journal, cursor) ->
            cursor.mode() == mode
                ? rule.apply(journal, cursor)
                : otherMode(journal, record.name(), cursor.mode(), mode));
  }

  static CursorState state(CursorRow cursor) {
    return new CursorState(
        cursor.epoch(), cursor.isShared() ? cursor.shared().head() : cursor.floor());
  }

  private static Refused noCursor(Journal journal, String name) {
    return new Refused(
        JournalRefusalReason.NO_CURSOR,
        "cursor: " + name + " (expected: a cursor of " + journal.shown() + ")");
  }

  private static Refused otherMode(
      Journal journal, String name, CursorMode found, CursorMode expected) {
    return new Refused(
        JournalRefusalReason.CURSOR_EXISTS,
        "mode: "
            + found
            + " of cursor "
            + name
            + " of "
            + journal.shown()
            + " (expected: "
            + expected
            + ")");
  }

  /**
   * Returns the refusal of an epoch.
   *
   * @param expected which epoch it has to be
   */
  static Refused staleEpoch(Journal journal, CursorRecord record, long epoch, String expected) {
    return new Refused(
        JournalRefusalReason.STALE_EPOCH,
        "epoch: "
            + epoch
            + " for cursor "
            + record.name()
            + " of "
            + journal.shown()
            + " (expected: "
            + expected
            + ")");
  }
}
