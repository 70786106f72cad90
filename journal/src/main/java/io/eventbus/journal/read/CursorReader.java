package io.eventbus.journal.read;

import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.WaitingEvents;
import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.ConsumerRow;
import io.eventbus.journal.state.CursorRow;
import io.eventbus.journal.state.DeadRow;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.SharedCounts;
import io.eventbus.journal.state.WaitingRun;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reading cursors, and what belongs to the shared ones. */
public final class CursorReader {
  /** Maximum number of rows that are looked at to find the first waiting position of a cursor. */
  static final int MAX_SCANNED = 10_000;

  private CursorReader() {}

  /** Returns cursors of a journal, sorted by name, from the first one after a name. */
  public static List<CursorView> cursors(RowReader rows, int journal, String after, int max) {
    List<CursorView> found = new ArrayList<>();
    byte[] first = Keys.cursor(journal, after);
    // The least key behind that of the name.
    byte[] from = after.isEmpty() ? first : Arrays.copyOf(first, first.length + 1);
    try (RowScan scan = rows.scan(from, Keys.end(Keys.CURSOR, journal))) {
      while (found.size() < max && scan.next()) {
        String name = new String(Keys.name(scan.key()), StandardCharsets.UTF_8);
        found.add(view(rows, journal, name, CursorRow.decode(scan.value())));
      }
    }
    return found;
  }

  /** Returns a cursor; null if there is no such cursor. */
  public static @Nullable CursorView cursor(RowReader rows, int journal, String name) {
    CursorRow row = row(rows, journal, name);
    return row == null ? null : view(rows, journal, name, row);
  }

  static @Nullable CursorRow row(RowReader rows, int journal, String name) {
    byte[] value = rows.get(Keys.cursor(journal, name));
    return value == null ? null : CursorRow.decode(value);
  }

  private static CursorView view(RowReader rows, int journal, String name, CursorRow row) {
    SharedCounts shared = row.shared();
    long last = lastPosition(rows, journal);
    long head = head(rows, journal, row);
    long next =
        row.mode() == CursorMode.EXCLUSIVE ? head + 1 : firstUndone(rows, journal, row, head);
    return new CursorView(
        name,
        row.filter(),
        row.mode(),
        (shared.dead() == 0 ? next : Math.min(next, firstDead(rows, journal, row))) - 1,
        row.epoch(),
        row.owner(),
        row.stamp(),
        head,
        shared.consumers(),
        shared.inFlight(),
        shared.waiting(),
        shared.dead(),
        lag(row, head, last),
        next > last ? 0 : JournalPositions.stampAt(rows, journal, next));
  }

  private static long lastPosition(RowReader rows, int journal) {
    JournalCounters counters = JournalPositions.counters(rows, journal);
    return counters == null ? 0 : counters.lastPosition();
  }

  /** Returns the position up to which no event is fresh for a consumer. */
  private static long head(RowReader rows, int journal, CursorRow row) {
    return switch (row.mode()) {
      case EXCLUSIVE -> row.floor();
      case SHARED -> row.shared().head();
      case KEY_SHARED -> SlotReader.floor(rows, journal, row);
    };
  }

  private static long lag(CursorRow row, long head, long last) {
    SharedCounts shared = row.shared();
    return Math.max(0, last - head) + shared.inFlight() + shared.waiting();
  }

  /**
   * Returns the greatest lag of the cursors of a journal; reads a few rows for each of them.
   *
   * @param max maximum number of cursors that are read
   */
  public static long maxLag(RowReader rows, int journal, int max) {
    long last = lastPosition(rows, journal);
    long found = 0;
    try (RowScan scan =
        rows.scan(Keys.first(Keys.CURSOR, journal), Keys.end(Keys.CURSOR, journal))) {
      for (int read = 0; read < max && scan.next(); read++) {
        CursorRow row = CursorRow.decode(scan.value());
        found = Math.max(found, lag(row, head(rows, journal, row), last));
      }
    }
    return found;
  }

  /**
   * Returns the first position of a shared cursor that is neither settled nor dead.
   *
   * @param head position up to which all are settled, in flight, waiting or dead
   */
  private static long firstUndone(RowReader rows, int journal, CursorRow row, long head) {
    SharedCounts shared = row.shared();
    long first = head + 1;
    if (shared.inFlight() > 0) {
      for (ConsumerView consumer : consumers(rows, journal, row, 0, Integer.MAX_VALUE)) {
        if (consumer.events() > 0) {
          first = Math.min(first, consumer.oldest());
        }
      }
    }
    return shared.waiting() == 0 ? first : Math.min(first, oldestWaiting(rows, journal, row));
  }

  private static long firstDead(RowReader rows, int journal, CursorRow row) {
    // None if it was given back since the row was read.
    List<DeadEvent> first = deadEvents(rows, journal, row, 0, 1);
    return first.isEmpty() ? Long.MAX_VALUE : first.get(0).position();
  }

  private static long oldestWaiting(RowReader rows, int journal, CursorRow row) {
    long oldest = Long.MAX_VALUE;
    int scanned = 0;
    try (RowScan scan =
        rows.scan(
            Keys.waitingFrom(journal, row.number(), row.shared().waitingFrom()),
            Keys.end(Keys.WAITING, journal, row.number()))) {
      while (scan.next()) {
        if (++scanned > MAX_SCANNED) {
          return row.floor() + 1;
        }
        oldest = Math.min(oldest, Keys.lastNumber(scan.key()));
      }
    }
    return oldest;
  }

  /** Returns consumers of a shared cursor, sorted by epoch, from the first one after an epoch. */
  public static List<ConsumerView> consumers(
      RowReader rows, int journal, String name, long after, int max) {
    CursorRow row = row(rows, journal, name);
    return row == null ? List.of() : consumers(rows, journal, row, after, max);
  }

  private static List<ConsumerView> consumers(
      RowReader rows, int journal, CursorRow row, long after, int max) {
    List<ConsumerView> found = new ArrayList<>();
    try (RowScan scan =
        rows.scan(
            Keys.consumer(journal, row.number(), after + 1),
            Keys.end(Keys.CONSUMER, journal, row.number()))) {
      while (found.size() < max && scan.next()) {
        long epoch = Keys.lastNumber(scan.key());
        found.add(
            row.mode() == CursorMode.KEY_SHARED
                ? SlotReader.consumer(epoch, scan.value())
                : consumer(epoch, scan.value()));
      }
    }
    return found;
  }

  /**
   * Returns what waits of a shared cursor, sorted by due time and position.
   *
   * @param due time from which on they are returned, in milliseconds of the shard's time
   * @param after position of that time after which they begin
   */
  public static List<WaitingEvents> waiting(
      RowReader rows, int journal, String name, long due, long after, int max) {
    CursorRow row = row(rows, journal, name);
    if (row == null || row.shared().waiting() == 0) {
      return List.of();
    }
    List<WaitingEvents> found = new ArrayList<>();
    try (RowScan scan =
        rows.scan(
            Keys.waiting(journal, row.number(), due, after + 1),
            Keys.end(Keys.WAITING, journal, row.number()))) {
      while (found.size() < max && scan.next()) {
        WaitingRun waiting = WaitingRun.decode(scan.key(), scan.value());
        TakenRun run = waiting.run();
        found.add(new WaitingEvents(waiting.due(), run.from(), run.to(), run.attempt()));
      }
    }
    return found;
  }

  private static ConsumerView consumer(long epoch, byte[] value) {
    ConsumerRow consumer = ConsumerRow.decode(value);
    List<TakenRun> runs = consumer.runs();
    return new ConsumerView(
        epoch, consumer.owner(), consumer.events(), runs.isEmpty() ? 0 : runs.get(0).from());
  }

  /** Returns dead letters of a shared cursor, from the first one after a position. */
  public static List<DeadEvent> deadEvents(
      RowReader rows, int journal, String name, long after, int max) {
    CursorRow row = row(rows, journal, name);
    return row == null ? List.of() : deadEvents(rows, journal, row, after, max);
  }

  private static List<DeadEvent> deadEvents(
      RowReader rows, int journal, CursorRow row, long after, int max) {
    List<DeadEvent> found = new ArrayList<>();
    try (RowScan scan =
        rows.scan(
            Keys.dead(journal, row.number(), after + 1),
            Keys.end(Keys.DEAD, journal, row.number()))) {
      while (found.size() < max && scan.next()) {
        DeadRow dead = DeadRow.decode(scan.value());
        found.add(
            new DeadEvent(
                Keys.lastNumber(scan.key()), dead.attempts(), dead.reason(), dead.stamp()));
      }
    }
    return found;
  }
}
