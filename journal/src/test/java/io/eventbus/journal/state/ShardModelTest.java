package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.RecordResult.ProducersExpired;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Purged;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Released;
import io.eventbus.journal.RecordResult.Trimmed;
import io.eventbus.journal.Retention;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.AttachCursor;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.DetachCursor;
import io.eventbus.journal.codec.ShardRecord.ExpireProducers;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Purge;
import io.eventbus.journal.codec.ShardRecord.Release;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.PlainShard.Answer;
import io.eventbus.journal.state.PlainShard.PlainJournal;
import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Compares a shard with a model in lists, under random entries: results, events, counters; and the
 * rows with those of members that have less memory, or begin anew in the middle.
 */
class ShardModelTest {
  private static final int SEEDS = 400;
  private static final int ENTRIES = 60;
  static final ShardLimits LIMITS = new ShardLimits(3, 4, 2, 12, 12, 400, 3, 5);

  @Test
  void aShardDoesWhatTheModelDoes() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      try {
        new Run(seed).run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
    }
  }

  /** Returns the entries of a seed. */
  static List<ByteBuffer> entries(long seed) {
    Run run = new Run(seed);
    run.run();
    return run.entries;
  }

  private static final class Run {
    private final Random random;
    private final PlainShard model = new PlainShard(LIMITS);
    private final ShardFixture shard =
        new ShardFixture(LIMITS, new MemoryRows(), Shard.CACHE_BYTES);
    private final ShardFixture forgetful = new ShardFixture(LIMITS, new MemoryRows(), 0);
    // The last number that each producer used in each topic of each journal.
    private final Map<String, Long> sequences = new HashMap<>();
    private final List<Publish> sent = new ArrayList<>();
    private final List<ByteBuffer> entries = new ArrayList<>();
    private long stamp = 10_000_000;
    private long number;

    Run(long seed) {
      this.random = new Random(seed);
    }

    void run() {
      int prefix = random.nextInt(ENTRIES);
      MemoryRows copy = new MemoryRows();
      for (int i = 0; i < ENTRIES; i++) {
        if (i == prefix) {
          copy = shard.rows.copy();
        }
        List<ShardRecord> records = i == 0 ? List.of(create("ab")) : records();
        ByteBuffer entry = TestEntries.bytes(stamp, records);
        entries.add(entry);
        compare(entry, records);
        if (random.nextInt(4) == 0) {
          forgetful.restart();
        }
        forgetful.apply(entry);
        advance();
      }
      List<String> rows = ShardFixture.text(shard.rows);
      assertThat(ShardFixture.text(forgetful.rows)).as("less memory").isEqualTo(rows);
      ShardFixture replayed = new ShardFixture(LIMITS, copy, Shard.CACHE_BYTES);
      entries.subList(prefix, ENTRIES).forEach(replayed::apply);
      assertThat(ShardFixture.text(replayed.rows)).as("replay from " + prefix).isEqualTo(rows);
    }

    private void advance() {
      stamp +=
          switch (random.nextInt(12)) {
            case 0 -> -5_000;
            case 1 -> 20 * 60_000;
            case 2 -> 70 * 60_000;
            default -> random.nextInt(100);
          };
    }

    private List<ShardRecord> records() {
      return switch (random.nextInt(24)) {
        case 0, 1 -> List.of(create(random.nextInt(4) == 0 ? "abc" : "ab"));
        case 2 -> List.of(new ChangeJournal(journal(), definition("ab")));
        case 3 -> random.nextInt(4) == 0 ? List.of(new DeleteJournal(journal())) : shared();
        case 4, 5 -> List.of(new Trim(journal(), position()));
        case 6 -> purge();
        case 7, 8, 9 -> List.of(new Release(journal(), stamp - random.nextInt(200)));
        case 10 -> List.of(new ExpireProducers(stamp - random.nextInt(5_000_000)));
        default -> shared();
      };
    }

    private CreateJournal create(String names) {
      return new CreateJournal(definition(names), 0);
    }

    private JournalDefinition definition(String names) {
      String name = "" + names.charAt(random.nextInt(names.length()));
      // The name decides, so that changes are possible.
      KeepPolicy keep = name.equals("b") ? KeepPolicy.LATEST : KeepPolicy.ALL;
      Retention retention =
          random.nextInt(3) == 0
              ? new Retention(0, 500 + random.nextInt(900), 5 + random.nextInt(20))
              : Retention.UNLIMITED;
      FullPolicy full = random.nextBoolean() ? FullPolicy.REFUSE : FullPolicy.DROP_OLD;
      if (name.equals("b")) {
        // The model does not know what a stored event takes.
        retention = new Retention(0, 0, retention.events());
      }
      return ShardFixture.definition(
          name, random.nextInt(8) == 0 ? "t.1" : "t.>", keep, retention, full);
    }

    private int journal() {
      List<Integer> numbers = new ArrayList<>(model.journals.keySet());
      return numbers.isEmpty() || random.nextInt(40) == 0
          ? 77
          : numbers.get(random.nextInt(numbers.size()));
    }

    private long position() {
      return 1L + random.nextInt(60);
    }

    private List<ShardRecord> purge() {
      long from = position();
      String topic = random.nextBoolean() ? "" : "t." + random.nextInt(6);
      long to = from + random.nextInt(topic.isEmpty() ? 3 : 60);
      return List.of(new Purge(journal(), topic, from, to));
    }

    private List<ShardRecord> shared() {
      List<ShardRecord> records = new ArrayList<>();
      int count = 1 + random.nextInt(6);
      for (int i = 0; i < count; i++) {
        records.add(
            switch (random.nextInt(16)) {
              case 0 -> new Tick();
              case 1 ->
                  new CreateCursor(
                      journal(),
                      cursor(),
                      TopicFilter.parse(random.nextInt(5) == 0 ? "t.1" : "t.>"),
                      CursorMode.EXCLUSIVE,
                      List.of(CursorStart.values()).get(random.nextInt(3)),
                      position());
              case 2 ->
                  random.nextInt(3) == 0
                      ? new DetachCursor(journal(), cursor(), 1 + random.nextInt(8))
                      : new AttachCursor(
                          journal(), cursor(), "o" + random.nextInt(2), random.nextInt(8));
              case 3, 4 -> new SettleCursor(journal(), cursor(), 1 + random.nextInt(8), position());
              case 5 ->
                  random.nextInt(3) == 0
                      ? new DeleteCursor(journal(), cursor(), random.nextInt(6))
                      : new Tick();
              default -> publish();
            });
      }
      return records;
    }

    private String cursor() {
      return "c" + random.nextInt(3);
    }

    private Publish publish() {
      if (!sent.isEmpty() && random.nextInt(4) == 0) {
        return sent.get(sent.size() - 1 - random.nextInt(Math.min(30, sent.size())));
      }
      int journal = journal();
      String topic = "t." + random.nextInt(6);
      String producer = "p" + random.nextInt(3);
      String key = journal + topic + producer;
      long last = sequences.getOrDefault(key, (long) random.nextInt(3));
      long sequence = last + 1;
      long previous = last;
      switch (random.nextInt(10)) {
        case 0 -> {
          sequence = last + 1 + random.nextInt(4);
          previous = sequence - 1 - random.nextInt(4);
        }
        case 1 -> {
          sequence = last + 1 + random.nextInt(4);
          previous = -1;
        }
        case 2, 3 -> {
          sequence = Math.max(1, last - random.nextInt(20));
          previous = random.nextBoolean() ? -1 : sequence - 1;
        }
        default -> {}
      }
      previous = Math.max(-1, previous);
      int count = 1 + random.nextInt(4);
      sequences.merge(key, sequence + count - 1, Math::max);
      number += count;
      PublishHead head =
          TestEntries.head(
              journal,
              topic,
              producer,
              sequence,
              previous,
              random.nextInt(6) == 0 ? random.nextInt(30) : 0,
              random.nextInt(8) == 0 ? 1 + random.nextInt(99) : 0,
              random.nextInt(6) == 0 ? 1 + random.nextInt(300) : 0);
      Publish publish =
          new Publish(
              // As of producers whose numbers are not those of their connection.
              TestEntries.withOrigin(head, 1 + random.nextInt(1_000)),
              TestEntries.numbered(number, count, 10 + random.nextInt(20)));
      sent.add(publish);
      return publish;
    }

    private void compare(ByteBuffer entry, List<ShardRecord> records) {
      List<RecordResult> results = shard.apply(entry);
      model.begin(stamp);
      for (int i = 0; i < records.size(); i++) {
        ShardRecord record = records.get(i);
        assertThat(answer(record, results.get(i)))
            .as("%s: %s", record, results.get(i))
            .isEqualTo(expected(record, results.get(i)));
      }
      assertThat(shard.changes.stamp()).isEqualTo(model.stamp);
      model.journals.forEach(this::compareRows);
      ShardCounters counters = ShardContext.readCounters(shard.rows);
      assertThat(counters.producers).as("producers").isEqualTo(model.producers());
      assertThat(counters.journals).as("journals").isEqualTo(model.journals.size());
      assertThat(shard.count(Keys.PRODUCER)).as("producer rows").isEqualTo(model.producers());
      assertThat(shard.count(Keys.DELAYED))
          .as("delayed rows")
          .isEqualTo(model.journals.values().stream().mapToInt(j -> j.delayed.size()).sum());
      assertThat(counters.delayed)
          .as("delayed")
          .isEqualTo(model.journals.values().stream().mapToLong(PlainJournal::delayedEvents).sum());
      assertThat(counters.delayedBytes)
          .as("bytes delayed")
          .isEqualTo(model.journals.values().stream().mapToLong(PlainJournal::delayedBytes).sum());
    }

    private void compareRows(int journal, PlainJournal plain) {
      assertThat(plain.keepsLatest() ? shard.latest(journal) : shard.events(journal))
          .as("events of " + journal)
          .containsExactlyElementsOf(plain.events.values());
      JournalCounters counters = shard.counters(journal);
      assertThat(counters.firstPosition()).as("first").isEqualTo(plain.firstPosition);
      assertThat(counters.lastPosition()).as("last").isEqualTo(plain.lastPosition);
      assertThat(counters.events()).as("events").isEqualTo(plain.events.size());
      assertThat(counters.topics()).as("topics").isEqualTo(plain.liveTopics());
      assertThat(counters.producers()).as("producers").isEqualTo(plain.producers());
      assertThat(cursors(journal)).as("cursors").isEqualTo(plain.cursors());
      plain.bytesOfEntry = 0;
      if (!plain.keepsLatest()) {
        long next = plain.firstPosition;
        long bytes = 0;
        for (ChunkIndex index : shard.indexes(journal)) {
          assertThat(index.firstPosition()).as("chunk").isEqualTo(next);
          next = index.lastPosition() + 1;
          bytes += index.bytes();
        }
        assertThat(next).as("end of chunks").isEqualTo(plain.lastPosition + 1);
        assertThat(counters.bytes()).as("bytes").isEqualTo(bytes);
        plain.storedBytes = bytes;
      }
    }

    /** Returns the owner, the epoch and the floor of each cursor. */
    private Map<String, String> cursors(int journal) {
      Map<String, String> found = new TreeMap<>();
      try (RowScan scan =
          shard.rows.scan(Keys.cursor(journal, ""), Keys.end(Keys.CURSOR, journal))) {
        while (scan.next()) {
          CursorRow row = CursorRow.decode(scan.value());
          found.put(
              new String(Keys.name(scan.key()), StandardCharsets.UTF_8),
              row.owner() + " " + row.epoch() + " " + row.floor());
        }
      }
      return found;
    }

    private static Answer answer(ShardRecord record, RecordResult result) {
      if (result instanceof Refused refused) {
        return Answer.no(refused.reason());
      } else if (result instanceof Published published) {
        return Answer.of(published.position(), published.repeated() ? 1 : 0);
      } else if (result instanceof JournalCreated created) {
        return Answer.of(created.journal(), 0);
      } else if (result instanceof Trimmed trimmed) {
        return Answer.of(trimmed.firstPosition(), trimmed.complete() ? 1 : 0);
      } else if (result instanceof Purged purged) {
        return Answer.of(purged.events(), purged.next());
      } else if (result instanceof Released released) {
        return Answer.of(released.events(), released.complete() ? 1 : 0);
      } else if (result instanceof ProducersExpired expired) {
        return Answer.of(expired.producers(), expired.complete() ? 1 : 0);
      } else if (result instanceof CursorState cursor) {
        return Answer.of(cursor.epoch(), cursor.floor());
      } else if (result instanceof Done) {
        return Answer.of(0, 0);
      }
      throw new AssertionError(record + ": " + result);
    }

    private Answer expected(ShardRecord record, RecordResult result) {
      if (record instanceof Publish publish) {
        return model.publish(publish);
      } else if (record instanceof CreateJournal create) {
        return model.create(create.definition());
      } else if (record instanceof ChangeJournal change) {
        return model.change(change.journal(), change.definition());
      } else if (record instanceof DeleteJournal delete) {
        return model.delete(delete.journal());
      } else if (record instanceof Trim trim) {
        return trim(trim, result);
      } else if (record instanceof Purge purge) {
        return model.purge(purge.journal(), purge.topic(), purge.from(), purge.to());
      } else if (record instanceof Release release) {
        return model.release(release.journal(), release.upTo());
      } else if (record instanceof ExpireProducers expire) {
        long newest = model.stamp - ShardLimits.MIN_PRODUCER_IDLE_MILLIS;
        return Answer.of(model.forget(Math.min(expire.before() - 1, newest), Long.MAX_VALUE), 1);
      } else if (record instanceof CreateCursor create) {
        return model.createCursor(create);
      } else if (record instanceof AttachCursor attach) {
        return model.attach(attach);
      } else if (record instanceof DetachCursor detach) {
        return model.detach(detach);
      } else if (record instanceof SettleCursor settle) {
        return model.settle(settle);
      } else if (record instanceof DeleteCursor delete) {
        return model.deleteCursor(delete);
      }
      return Answer.of(0, 0);
    }

    /** Checks what may be trimmed by the chunks that are left, and trims the model as far. */
    private Answer trim(Trim record, RecordResult result) {
      PlainJournal plain = model.journals.get(record.journal());
      if (plain == null || !(result instanceof Trimmed)) {
        return Answer.no(JournalRefusalReason.NO_JOURNAL);
      }
      long upTo = Math.min(record.upTo(), plain.lastPosition);
      long first = Math.max(plain.firstPosition, upTo + 1);
      if (!plain.keepsLatest() && first > plain.firstPosition) {
        List<ChunkIndex> left = shard.indexes(record.journal());
        first = left.isEmpty() ? plain.lastPosition + 1 : left.get(0).firstPosition();
        assertThat(first).isBetween(plain.firstPosition, upTo + 1);
        assertThat(left).allMatch(index -> index.lastPosition() > upTo);
      }
      model.trim(record.journal(), first);
      return Answer.of(first, 1);
    }
  }
}
