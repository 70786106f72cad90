package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Settled;
import io.eventbus.journal.RecordResult.Taken;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.SettleEvents;
import io.eventbus.journal.codec.ShardRecord.TakeEvents;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.read.CursorReader;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Compares shared cursors with a model that knows the state of each position, under random entries
 * of several records; and the rows with those of members that have less memory, or begin anew.
 */
class SharedCursorModelTest {
  private static final int SEEDS = 300;
  private static final int ENTRIES = 120;
  private static final int UNFINISHED = 30;
  static final ShardLimits LIMITS = new ShardLimits(3, 4, 2, 12, 12, 400, 4, UNFINISHED);
  private static final TopicFilter FILTER = TopicFilter.parse("a.>");

  @Test
  void eachEventIsWithOneConsumerOrWaitsOrIsSettledOrDead() {
    int taken = 0;
    int dead = 0;
    int again = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed);
      try {
        run.run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
      taken += run.taken;
      dead += run.dead;
      again += run.again;
    }
    // The entries bring about what is compared.
    assertThat(taken).as("taken").isGreaterThan(100 * SEEDS);
    assertThat(again).as("taken again").isGreaterThan(50 * SEEDS);
    assertThat(dead).as("dead").isGreaterThan(10 * SEEDS);
  }

  /** Returns the entries of a seed. */
  static List<ByteBuffer> entries(long seed) {
    Run run = new Run(seed);
    run.run();
    return run.entries;
  }

  private enum Place {
    IN_FLIGHT,
    WAITING,
    DEAD,
    SETTLED
  }

  /** State of a position that was taken. */
  private record Position(Place place, long consumer, int attempt, long due, String reason) {}

  private static final class Cursor {
    final long number;
    long lastConsumer;
    final Map<Long, Integer> consumers = new TreeMap<>();
    // Those up to the head.
    final TreeMap<Long, Position> positions = new TreeMap<>();

    Cursor(long number) {
      this.number = number;
      lastConsumer = number;
    }

    long count(Place place) {
      return positions.values().stream().filter(each -> each.place == place).count();
    }

    long head() {
      return positions.size();
    }
  }

  private static final class Run {
    private final Random random;
    private final ShardFixture shard =
        new ShardFixture(LIMITS, new MemoryRows(), Shard.CACHE_BYTES);
    private final ShardFixture forgetful = new ShardFixture(LIMITS, new MemoryRows(), 0);
    private final List<ByteBuffer> entries = new ArrayList<>();
    private final Map<String, Cursor> cursors = new HashMap<>();
    private final Set<Long> epochs = new TreeSet<>();
    private long stamp = 10_000_000;
    // Last position of a published event, and of one of the entry that is being made.
    private long last;
    private long sent;
    private long lastEpoch;
    private long serial;
    private boolean released;
    private int taken;
    private int again;
    private int dead;

    Run(long seed) {
      random = new Random(seed);
    }

    void run() {
      int prefix = random.nextInt(ENTRIES);
      MemoryRows copy = new MemoryRows();
      for (int i = 0; i < ENTRIES; i++) {
        if (i == prefix) {
          copy = shard.rows.copy();
        }
        apply(i == 0 ? List.of(createJournal()) : records());
        if (random.nextInt(4) == 0) {
          forgetful.restart();
        }
        forgetful.apply(entries.get(i));
        stamp += random.nextInt(8) == 0 ? random.nextInt(40_000) : random.nextInt(3);
      }
      List<String> rows = ShardFixture.text(shard.rows);
      assertThat(ShardFixture.text(forgetful.rows)).as("less memory").isEqualTo(rows);
      ShardFixture replayed = new ShardFixture(LIMITS, copy, Shard.CACHE_BYTES);
      entries.subList(prefix, ENTRIES).forEach(replayed::apply);
      assertThat(ShardFixture.text(replayed.rows)).as("replay from " + prefix).isEqualTo(rows);
    }

    private static CreateJournal createJournal() {
      return new CreateJournal(ShardFixture.definition("one", "a.>", KeepPolicy.ALL), 0);
    }

    private void apply(List<ShardRecord> records) {
      ByteBuffer entry = TestEntries.bytes(stamp, records);
      entries.add(entry);
      List<RecordResult> results = shard.apply(entry);
      released = false;
      for (int i = 0; i < records.size(); i++) {
        try {
          check(records.get(i), results.get(i));
        } catch (AssertionError e) {
          throw new AssertionError(
              "record " + i + " of " + records + ": " + results.get(i) + ": " + e.getMessage(), e);
        }
      }
      assertThat(shard.changes.released()).as("released").hasSize(released ? 1 : 0);
      cursors.forEach(this::compareRows);
    }

    private List<ShardRecord> records() {
      if (random.nextInt(12) == 0) {
        long from = 1L + random.nextInt(80);
        long to = random.nextBoolean() ? from + random.nextInt(10) : Long.MAX_VALUE;
        return List.of(new Redrive(1, name(), from, to, random.nextInt(3) == 0));
      }
      List<ShardRecord> records = new ArrayList<>();
      int count = 1 + random.nextInt(7);
      for (int i = 0; i < count; i++) {
        records.add(record());
      }
      return records;
    }

    private ShardRecord record() {
      return switch (random.nextInt(20)) {
        case 0, 1 -> publish();
        case 2 ->
            new CreateCursor(
                1,
                name(),
                FILTER,
                CursorMode.SHARED,
                random.nextInt(9) == 0 ? CursorStart.NEW : CursorStart.FIRST,
                0);
        case 3, 4 -> new JoinCursor(1, name(), "o" + random.nextInt(2), 1 + random.nextInt(5));
        case 5 -> new LeaveCursor(1, name(), epoch(), random.nextBoolean());
        case 6 ->
            random.nextInt(8) == 0
                ? new DeleteCursor(1, name(), random.nextBoolean() ? 0 : epoch())
                : publish();
        case 7, 8, 9, 10, 11, 12 ->
            new TakeEvents(1, name(), epoch(), ++serial, 1 + random.nextInt(12));
        default -> settle();
      };
    }

    private Publish publish() {
      int count = 1 + random.nextInt(6);
      Publish publish =
          new Publish(
              TestEntries.head(1, "a.x", "p", sent + 1, -1, 0, 0, 0),
              TestEntries.numbered(sent + 1, count, 5));
      sent += count;
      return publish;
    }

    private String name() {
      return random.nextInt(4) == 0 ? "d" : "c";
    }

    private long epoch() {
      // One that is there, was there, or comes with the entry.
      return random.nextInt(10) == 0 || epochs.isEmpty()
          ? 1 + random.nextInt((int) lastEpoch + 2)
          : new ArrayList<>(epochs).get(random.nextInt(epochs.size()));
    }

    private SettleEvents settle() {
      String name = name();
      long epoch = epoch();
      List<Settlement> settlements = new ArrayList<>();
      int count = random.nextInt(4);
      for (int i = 0; i < count; i++) {
        settlements.add(settlement(name, epoch));
      }
      return new SettleEvents(1, name, epoch, ++serial, settlements);
    }

    private Settlement settlement(String name, long epoch) {
      long from = 1L + random.nextInt((int) last + 3);
      int attempt = 1 + random.nextInt(3);
      Cursor cursor = cursors.get(name);
      if (cursor != null && random.nextInt(5) > 0) {
        // One that the consumer has, if it has any.
        for (Map.Entry<Long, Position> each : cursor.positions.tailMap(from / 2).entrySet()) {
          if (each.getValue().place == Place.IN_FLIGHT && each.getValue().consumer == epoch) {
            from = each.getKey();
            attempt = each.getValue().attempt;
            break;
          }
        }
      }
      return new Settlement(
          from,
          from + random.nextInt(6),
          attempt,
          List.of(Outcome.values()).get(random.nextInt(4)),
          List.of(-1L, 0L, 1L, 20_000L).get(random.nextInt(4)),
          "r" + random.nextInt(3));
    }

    private void check(ShardRecord record, RecordResult result) {
      if (record instanceof Publish publish) {
        last += publish.events().count();
      } else if (record instanceof CreateCursor create) {
        check(create, result);
      } else if (record instanceof DeleteCursor delete) {
        check(delete, result);
      } else if (record instanceof JoinCursor join) {
        check(join, result);
      } else if (record instanceof LeaveCursor leave) {
        check(leave, result);
      } else if (record instanceof TakeEvents take) {
        check(take, result);
      } else if (record instanceof SettleEvents settle) {
        check(settle, result);
      } else if (record instanceof Redrive redrive) {
        check(redrive, result);
      }
    }

    private void check(CreateCursor create, RecordResult result) {
      Cursor cursor = cursors.get(create.name());
      if (cursor == null) {
        cursor = new Cursor(++lastEpoch);
        cursors.put(create.name(), cursor);
        for (long i = 1; create.start() == CursorStart.NEW && i <= last; i++) {
          cursor.positions.put(i, new Position(Place.SETTLED, 0, 1, 0, ""));
        }
      }
      assertThat(result).isEqualTo(new CursorState(cursor.lastConsumer, cursor.head()));
    }

    private void check(DeleteCursor delete, RecordResult result) {
      Cursor cursor = cursors.get(delete.name());
      if (cursor == null || (delete.epoch() != 0 && delete.epoch() != cursor.lastConsumer)) {
        assertThat(result).isInstanceOf(Refused.class);
        return;
      }
      assertThat(result).isEqualTo(new Done());
      cursors.remove(delete.name());
      epochs.removeAll(cursor.consumers.keySet());
    }

    private void check(JoinCursor join, RecordResult result) {
      Cursor cursor = cursors.get(join.name());
      if (cursor == null || cursor.consumers.size() == LIMITS.consumers()) {
        assertThat(result).isInstanceOf(Refused.class);
        return;
      }
      cursor.lastConsumer = ++lastEpoch;
      cursor.consumers.put(lastEpoch, join.maxAttempts());
      epochs.add(lastEpoch);
      assertThat(result).isEqualTo(new CursorState(lastEpoch, cursor.head()));
    }

    private void check(LeaveCursor leave, RecordResult result) {
      Cursor cursor = cursors.get(leave.name());
      if (cursor == null) {
        assertThat(result).isInstanceOf(Refused.class);
        return;
      }
      assertThat(result).isEqualTo(new Done());
      Integer maxAttempts = cursor.consumers.remove(leave.epoch());
      if (maxAttempts == null) {
        return;
      }
      epochs.remove(leave.epoch());
      cursor.positions.forEach(
          (number, position) -> {
            if (position.place == Place.IN_FLIGHT && position.consumer == leave.epoch()) {
              Outcome outcome = leave.failed() ? Outcome.RETRY : Outcome.RELEASE;
              settle(cursor, number, position, outcome, 0, "its consumer was lost", maxAttempts);
            }
          });
    }

    private void settle(
        Cursor cursor,
        long number,
        Position position,
        Outcome outcome,
        long delay,
        String reason,
        int maxAttempts) {
      long[] backOff = {0, 1_000, 5_000, 30_000, 120_000};
      int attempt = position.attempt;
      boolean over = outcome == Outcome.RETRY && attempt >= maxAttempts;
      Position next;
      if (outcome == Outcome.DONE) {
        next = new Position(Place.SETTLED, 0, attempt, 0, "");
      } else if (outcome == Outcome.REJECT || over) {
        next = new Position(Place.DEAD, 0, attempt, stamp, reason);
        dead++;
      } else if (outcome == Outcome.RELEASE) {
        next = new Position(Place.WAITING, 0, attempt, stamp, "");
        released = true;
      } else {
        long millis = delay == -1 ? backOff[Math.min(attempt, 4)] : delay;
        next = new Position(Place.WAITING, 0, attempt + 1, stamp + millis, "");
        released = true;
      }
      cursor.positions.put(number, next);
    }

    private void check(TakeEvents take, RecordResult result) {
      Cursor cursor = cursors.get(take.name());
      if (cursor == null || !cursor.consumers.containsKey(take.epoch())) {
        assertThat(result).isInstanceOf(Refused.class);
        return;
      }
      Taken got = (Taken) result;
      long available = last - cursor.head() + cursor.count(Place.WAITING);
      long due =
          cursor.positions.values().stream()
              .filter(each -> each.place == Place.WAITING && each.due <= stamp)
              .count();
      int events = 0;
      boolean fresh = false;
      for (TakenRun run : got.runs()) {
        assertThat(fresh).as("what was given back comes first").isFalse();
        fresh = run.from() > cursor.head();
        if (fresh) {
          assertThat(cursor.count(Place.WAITING) + cursor.count(Place.DEAD))
              .as("unfinished")
              .isLessThan(UNFINISHED);
        }
        int most = run.attempt() > 2 ? 1 : 256 >> (4 * (run.attempt() - 1));
        assertThat(fresh || run.events() <= most).as("size of " + run).isTrue();
        for (long number = run.from(); number <= run.to(); number++) {
          events++;
          Position before = cursor.positions.get(number);
          if (fresh) {
            assertThat(number).isEqualTo(cursor.head() + 1).isLessThanOrEqualTo(last);
            assertThat(run.attempt()).isEqualTo(1);
          } else {
            assertThat(before).isNotNull();
            assertThat(before.place).as("position " + number).isEqualTo(Place.WAITING);
            assertThat(before.due).isLessThanOrEqualTo(stamp);
            assertThat(run.attempt()).isEqualTo(before.attempt);
            again++;
          }
          cursor.positions.put(
              number, new Position(Place.IN_FLIGHT, take.epoch(), run.attempt(), 0, ""));
          taken++;
        }
      }
      long share = 2L * cursor.consumers.size();
      assertThat(events)
          .isLessThanOrEqualTo(take.max())
          .isLessThanOrEqualTo((int) Math.max(1, (available + share - 1) / share));
      boolean room =
          cursor.count(Place.WAITING) + cursor.count(Place.DEAD) < UNFINISHED
              && last > cursor.head();
      assertThat(events > 0 || (due == 0 && !room)).as("there was something to take").isTrue();
      assertThat(got.due())
          .as("due")
          .isEqualTo(
              cursor.positions.values().stream()
                  .filter(each -> each.place == Place.WAITING && each.due > stamp)
                  .mapToLong(Position::due)
                  .min()
                  .orElse(0));
    }

    private void check(SettleEvents settle, RecordResult result) {
      Cursor cursor = cursors.get(settle.name());
      Integer maxAttempts = cursor == null ? null : cursor.consumers.get(settle.epoch());
      if (cursor == null || maxAttempts == null) {
        assertThat(result).isInstanceOf(Refused.class);
        return;
      }
      int ignored = 0;
      for (Settlement each : settle.settlements()) {
        for (long number = each.from(); number <= each.to(); number++) {
          Position position = cursor.positions.get(number);
          if (position != null
              && position.place == Place.IN_FLIGHT
              && position.consumer == settle.epoch()
              && position.attempt == each.attempt()) {
            settle(
                cursor,
                number,
                position,
                each.outcome(),
                each.delayMillis(),
                each.reason(),
                maxAttempts);
          } else {
            ignored++;
          }
        }
      }
      assertThat(result).isEqualTo(new Settled(ignored));
    }

    private void check(Redrive redrive, RecordResult result) {
      Cursor cursor = cursors.get(redrive.name());
      if (cursor == null) {
        assertThat(result).isInstanceOf(Refused.class);
        return;
      }
      int events = 0;
      for (Map.Entry<Long, Position> each : cursor.positions.entrySet()) {
        if (each.getValue().place == Place.DEAD
            && each.getKey() >= redrive.from()
            && each.getKey() <= redrive.to()) {
          events++;
          each.setValue(
              redrive.discard()
                  ? new Position(Place.SETTLED, 0, 1, 0, "")
                  : new Position(Place.WAITING, 0, 1, stamp, ""));
          released = true;
        }
      }
      assertThat(result).isEqualTo(new Redriven(events, 0));
    }

    private void compareRows(String name, Cursor cursor) {
      CursorRow row =
          CursorRow.decode(Objects.requireNonNull(shard.rows.get(Keys.cursor(1, name))));
      assertThat(row.number()).isEqualTo(cursor.number);
      SharedCounts counts = row.shared();
      assertThat(counts.head()).as("head").isEqualTo(cursor.head());
      assertThat(counts.consumers()).as("consumers").isEqualTo(cursor.consumers.size());
      assertThat(counts.inFlight()).as("in flight").isEqualTo(cursor.count(Place.IN_FLIGHT));
      assertThat(counts.waiting()).as("waiting").isEqualTo(cursor.count(Place.WAITING));
      assertThat(counts.dead()).as("dead").isEqualTo(cursor.count(Place.DEAD));
      Map<Long, Position> unsettled = new TreeMap<>(cursor.positions);
      unsettled.values().removeIf(each -> each.place == Place.SETTLED);
      assertThat(stored(cursor, counts)).as("positions of " + name).isEqualTo(unsettled);
      CursorView view = Objects.requireNonNull(CursorReader.cursor(shard.rows, 1, name));
      assertThat(view.floor())
          .as("floor")
          .isEqualTo(
              (unsettled.isEmpty() ? cursor.head() + 1 : unsettled.keySet().iterator().next()) - 1);
      assertThat(row.floor()).as("stored floor").isLessThanOrEqualTo(view.floor());
      assertThat(view.lag())
          .as("lag")
          .isEqualTo(Math.max(0, last - cursor.head()) + counts.inFlight() + counts.waiting());
    }

    /** Returns the positions that rows name, each of which is in one row. */
    private Map<Long, Position> stored(Cursor cursor, SharedCounts counts) {
      Map<Long, Position> found = new TreeMap<>();
      try (RowScan scan = scan(Keys.CONSUMER, cursor)) {
        while (scan.next()) {
          long epoch = Keys.lastNumber(scan.key());
          assertThat(cursor.consumers).containsKey(epoch);
          for (TakenRun run : ConsumerRow.decode(scan.value()).runs()) {
            add(found, run, new Position(Place.IN_FLIGHT, epoch, run.attempt(), 0, ""));
          }
        }
      }
      try (RowScan scan = scan(Keys.WAITING, cursor)) {
        while (scan.next()) {
          WaitingRun waiting = WaitingRun.decode(scan.key(), scan.value());
          assertThat(waiting.due()).as("due").isGreaterThanOrEqualTo(counts.waitingFrom());
          int attempt = waiting.run().attempt();
          add(found, waiting.run(), new Position(Place.WAITING, 0, attempt, waiting.due(), ""));
        }
      }
      try (RowScan scan = scan(Keys.DEAD, cursor)) {
        while (scan.next()) {
          DeadRow row = DeadRow.decode(scan.value());
          long position = Keys.lastNumber(scan.key());
          add(
              found,
              new TakenRun(position, position, 1),
              new Position(Place.DEAD, 0, row.attempts(), row.stamp(), row.reason()));
        }
      }
      return found;
    }

    private RowScan scan(byte kind, Cursor cursor) {
      return shard.rows.scan(Keys.first(kind, 1, cursor.number), Keys.end(kind, 1, cursor.number));
    }

    private static void add(Map<Long, Position> found, TakenRun run, Position position) {
      for (long number = run.from(); number <= run.to(); number++) {
        assertThat(found.put(number, position)).as("position " + number + " twice").isNull();
      }
    }
  }
}
