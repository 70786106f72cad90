package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.rows.StoreFailedException;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.TopicFilter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Values and keys of rows, and the memory in which they are kept. */
class RowsTest {
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Sample(byte[] value, Function<byte[], byte[]> again) {}

  /** Returns a row of each kind with values that differ from each other. */
  private static Map<String, Sample> samples() {
    Map<String, Sample> samples = new LinkedHashMap<>();
    JournalCounters counters = new JournalCounters();
    counters.firstPosition = 3;
    counters.lastPosition = 1L << 40;
    counters.events = 5;
    counters.bytes = 600;
    counters.topics = 7;
    counters.producers = 8;
    counters.delayed = 9;
    counters.delayedBytes = 1_000;
    counters.delayedFrom = 99;
    counters.cursors = 11;
    counters.lastTopic = 12;
    counters.lastEpoch = 13;
    counters.sequenceFloor = 14;
    samples.put(
        "JournalCounters",
        new Sample(counters.encode(), value -> JournalCounters.decode(value).encode()));
    ShardCounters shard = new ShardCounters();
    shard.stamp = 1_700_000_000_000L;
    shard.journals = 2;
    shard.lastJournal = 3;
    shard.producers = 4;
    shard.delayed = 5;
    shard.delayedBytes = 600;
    shard.lastDelayed = 7;
    shard.idleFrom = 60_000;
    samples.put(
        "ShardCounters", new Sample(shard.encode(), value -> ShardCounters.decode(value).encode()));
    TopicRow topic = new TopicRow(5, 77);
    topic.lastPosition = 900;
    topic.producers = 3;
    topic.latestBytes = 450;
    samples.put("TopicRow", new Sample(topic.encode(), value -> TopicRow.decode(value).encode()));
    ProducerRow producer = new ProducerRow(1_700_000_000_000L);
    producer.accept(5, 3, 100);
    producer.refuse(8, 2, JournalRefusalReason.STORE_FULL);
    producer.accept(20, 1, 0);
    samples.put(
        "ProducerRow", new Sample(producer.encode(), value -> ProducerRow.decode(value).encode()));
    CursorRow cursor =
        new CursorRow(
            TopicFilter.parse("a.*"),
            CursorMode.EXCLUSIVE,
            4,
            5,
            6,
            "bus-1/a",
            1_700_000_000_000L,
            SharedCounts.NONE);
    samples.put(
        "CursorRow", new Sample(cursor.encode(), value -> CursorRow.decode(value).encode()));
    CursorRow shared =
        new CursorRow(
            TopicFilter.parse("a.*"),
            CursorMode.SHARED,
            4,
            5,
            6,
            "",
            1_700_000_000_000L,
            new SharedCounts(900, 3, 40, 50, 1_700_000_000_001L, 60));
    samples.put(
        "CursorRow SHARED", new Sample(shared.encode(), value -> CursorRow.decode(value).encode()));
    ConsumerRow consumer =
        new ConsumerRow(
            "bus-1/a",
            9,
            70,
            8,
            List.of(new TakenRun(5, 9, 1), new TakenRun(10, 10, 2), new TakenRun(1_000, 2_015, 1)));
    samples.put(
        "ConsumerRow", new Sample(consumer.encode(), value -> ConsumerRow.decode(value).encode()));
    byte[] waitingKey = Keys.waiting(1, 2, 3, 4);
    WaitingRun waiting = new WaitingRun(3, new TakenRun(4, 67, 5));
    samples.put(
        "WaitingRun",
        new Sample(waiting.encode(), value -> WaitingRun.decode(waitingKey, value).encode()));
    DeadRow dead = new DeadRow(7, "wrong", 1_700_000_000_000L);
    samples.put("DeadRow", new Sample(dead.encode(), value -> DeadRow.decode(value).encode()));
    DeadRow deadOfSlot = new DeadRow(7, "wrong", 1_700_000_000_000L, 1_023);
    samples.put(
        "DeadRow of a slot",
        new Sample(deadOfSlot.encode(), value -> DeadRow.decode(value).encode()));
    CursorRow keyShared =
        new CursorRow(
            TopicFilter.parse("a.*"),
            CursorMode.KEY_SHARED,
            4,
            5,
            6,
            "",
            1_700_000_000_000L,
            new SharedCounts(5, 3, 0, 50, 0, 60));
    samples.put(
        "CursorRow KEY_SHARED",
        new Sample(keyShared.encode(), value -> CursorRow.decode(value).encode()));
    SlotStates states =
        new SlotStates(
            900,
            new TreeMap<>(
                Map.of(0, SlotState.at(800), 1_023, new SlotState(950, 951, 3, 1_000, 990))));
    SlotConsumerRow slotConsumer =
        new SlotConsumerRow("bus-1/a", 9, 70, 3, states, new TreeMap<>(Map.of(1_023, 3L)));
    samples.put(
        "SlotConsumerRow",
        new Sample(slotConsumer.encode(), value -> SlotConsumerRow.decode(value).encode()));
    SlotsRow free = SlotsRow.from(0).leftByAll(states).withFull(true);
    samples.put("SlotsRow", new Sample(free.encode(), value -> SlotsRow.decode(value).encode()));
    DefinitionRow definition =
        new DefinitionRow(ShardFixture.definition("orders", "orders.>", KeepPolicy.LATEST), 79);
    samples.put(
        "DefinitionRow",
        new Sample(definition.encode(), value -> DefinitionRow.decode(value).encode()));
    return samples;
  }

  @Test
  void theFormatIsTheOneThatWasWrittenBefore() throws IOException {
    StringBuilder written = new StringBuilder();
    samples()
        .forEach(
            (name, sample) ->
                written
                    .append(name)
                    .append(' ')
                    .append(HexFormat.of().formatHex(sample.value))
                    .append('\n'));
    byte[] name = "a".getBytes(StandardCharsets.UTF_8);
    byte[] producer = Keys.producer(1, 2, name);
    for (byte[] key :
        new byte[][] {
          Keys.journal(1),
          Keys.journalName("a"),
          Keys.topic(1, name),
          Keys.topicName(1, 2),
          Keys.chunk(1, 2),
          Keys.chunkIndex(1, 2),
          producer,
          Keys.latest(1, 2),
          Keys.latestPosition(1, 2),
          Keys.cursor(1, "a"),
          Keys.delayed(1, 2, 3),
          Keys.producerIdle(2, producer),
          Keys.shard(),
          Keys.journalCounters(1),
          Keys.consumer(1, 2, 3),
          Keys.waiting(1, 2, 3, 4),
          Keys.dead(1, 2, 3)
        }) {
      written.append("key ").append(HexFormat.of().formatHex(key)).append('\n');
    }
    try (InputStream file =
        Objects.requireNonNull(RowsTest.class.getResourceAsStream("/golden/rows-1.txt"))) {
      assertThat(written.toString())
          .isEqualTo(new String(file.readAllBytes(), StandardCharsets.US_ASCII));
    }
  }

  @Test
  void rowsAreReadAsTheyWereWrittenAndNothingElseIsRead() {
    samples()
        .forEach(
            (name, sample) -> {
              assertThat(sample.again.apply(sample.value)).as(name).isEqualTo(sample.value);
              for (int i = 0; i < sample.value.length; i++) {
                byte[] cut = Arrays.copyOf(sample.value, i);
                assertThatThrownBy(() -> sample.again.apply(cut))
                    .as("%s, %d bytes", name, i)
                    .isInstanceOf(MalformedFrameException.class);
              }
              byte[] longer = Arrays.copyOf(sample.value, sample.value.length + 1);
              assertThatThrownBy(() -> sample.again.apply(longer))
                  .as(name)
                  .isInstanceOf(MalformedFrameException.class);
            });
  }

  @Test
  void aDefinitionOfBeforeThereWereNumbersOfCreationsIsRead() {
    byte[] before = HexFormat.of().parseHex("020c6f726465727302106f72646572732e3e0200000000");
    assertThat(DefinitionRow.decode(before))
        .isEqualTo(
            new DefinitionRow(ShardFixture.definition("orders", "orders.>", KeepPolicy.LATEST), 0));
  }

  @Test
  void aConsumerHasNoMoreThanItMay() {
    List<TakenRun> tooMany = List.of(new TakenRun(1, 1_000, 1), new TakenRun(2_000, 2_024, 1));
    assertThatThrownBy(() -> ConsumerRow.decode(new ConsumerRow("o", 1, 0, 0, tooMany).encode()))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessageStartingWith("length: 24 at byte ")
        .hasMessageEndingWith("(expected: 0..23)");
    List<TakenRun> attempts = List.of(new TakenRun(1, 1, 1_001));
    assertThatThrownBy(() -> ConsumerRow.decode(new ConsumerRow("o", 1, 0, 0, attempts).encode()))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessageStartingWith("attempt: 1001 at byte ");
    List<TakenRun> backward = List.of(new TakenRun(9, 9, 1), new TakenRun(9, 9, 1));
    assertThatThrownBy(() -> ConsumerRow.decode(new ConsumerRow("o", 1, 0, 0, backward).encode()))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessageStartingWith("gap: -1 at byte ");
  }

  @Test
  void whatARowOfAConsumerTakesGrowsWithItsRuns() {
    ConsumerRow none = new ConsumerRow("o", 1, 0, 0, List.of());
    List<TakenRun> runs = new ArrayList<>();
    for (int i = 0; i < ShardLimits.MAX_IN_FLIGHT; i++) {
      runs.add(new TakenRun(1_000_000 + 2 * i, 1_000_000 + 2 * i, 1 + i % 4));
    }
    ConsumerRow most = new ConsumerRow("o", 1, 0, 0, runs);
    assertThat(most.events()).isEqualTo(ShardLimits.MAX_IN_FLIGHT);
    assertThat(most.encode()).hasSizeLessThan(4 << 10);
    assertThat(ConsumerRow.decode(most.encode())).isEqualTo(most);
    assertThat(most.memoryBytes() - none.memoryBytes()).isEqualTo(48 * runs.size());
  }

  @Test
  void keysAreInTheOrderOfTheirNumbers() {
    TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    byte[][] ascending = {
      Keys.first(Keys.CHUNK, 1),
      Keys.chunk(1, 1),
      Keys.chunk(1, 255),
      Keys.chunk(1, 256),
      Keys.chunk(1, Long.MAX_VALUE),
      Keys.end(Keys.CHUNK, 1),
      Keys.chunk(2, 1),
      Keys.chunk(255, 1),
      Keys.chunk(256, 1),
      Keys.chunk(Integer.MAX_VALUE, Long.MAX_VALUE),
      Keys.end(Keys.CHUNK, Integer.MAX_VALUE)
    };
    for (byte[] key : ascending) {
      keys.add(key);
    }
    assertThat(Keys.end(Keys.CHUNK, 254)).isEqualTo(Keys.first(Keys.CHUNK, 255));

    assertThat(keys).hasSize(ascending.length).containsExactly(ascending);
    assertThat(Keys.number(Keys.chunk(7, 99))).isEqualTo(99);
    assertThat(Keys.journalOf(Keys.chunk(7, 99))).isEqualTo(7);
    assertThat(Keys.lastNumber(Keys.waiting(7, 8, 9, 10))).isEqualTo(10);
    assertThat(Keys.due(Keys.waiting(7, 8, 9, 10))).isEqualTo(9);
    assertThat(Keys.name(Keys.cursor(7, "ab"))).isEqualTo(new byte[] {'a', 'b'});
  }

  @Test
  void aRowThatIsNotAsItWasWrittenEndsTheStore() {
    MemoryRows rows = new MemoryRows();
    rows.put(Keys.cursor(1, "a"), new byte[] {2, 5});
    rows.commit();
    RowCache cache = new RowCache(1_000);

    assertThatThrownBy(
            () -> cache.get(rows, Keys.cursor(1, "a"), CursorRow.class, CursorRow::decode))
        .isInstanceOf(StoreFailedException.class)
        .hasMessageStartingWith("row 0a0000000161: ")
        .hasMessageContaining("(expected: ");
  }

  @Test
  void rowsInMemoryAreBoundedInBytesAndTheLastUsedStay() {
    MemoryRows rows = new MemoryRows();
    // Has no rows: those that are found in spite of it are in memory.
    MemoryRows none = new MemoryRows();
    RowCache cache = new RowCache(20_000);
    for (int i = 0; i < 1_000; i++) {
      cache.put(Keys.chunk(1, i), new TopicRow(i, i));
      if (i % 10 == 9) {
        cache.flush(rows);
        rows.commit();
        assertThat(cache.bytes()).isLessThanOrEqualTo(20_000).isGreaterThan(1_000);
        assertThat(cache.get(none, Keys.chunk(1, 0), TopicRow.class, TopicRow::decode)).isNotNull();
      }
    }

    assertThat(cache.get(none, Keys.chunk(1, 999), TopicRow.class, TopicRow::decode)).isNotNull();
    assertThat(cache.get(none, Keys.chunk(1, 0), TopicRow.class, TopicRow::decode)).isNotNull();
    assertThat(cache.get(none, Keys.chunk(1, 1), TopicRow.class, TopicRow::decode)).isNull();
    assertThat(cache.get(rows, Keys.chunk(1, 1), TopicRow.class, TopicRow::decode)).isNotNull();
    for (int i = 0; i < 1_000; i++) {
      cache.delete(Keys.chunk(1, i));
    }
    cache.flush(rows);
    rows.commit();
    assertThat(cache.bytes()).isZero();
    assertThat(rows.all()).isEmpty();
  }
}
