package io.eventbus.journal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.Retention;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.journal.SlotEnd;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.chunk.TestEvents;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.Varint;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class EntryTest {
  private static final JournalDefinition ORDERS =
      new JournalDefinition(
          "orders",
          List.of(TopicFilter.parse("orders.>"), TopicFilter.parse("refunds.*")),
          KeepPolicy.LATEST,
          new Retention(86_400_000, 1 << 30, 1_000),
          FullPolicy.REFUSE);

  private final EntryReader reader = new EntryReader();

  /** Returns every record with values that differ from each other. */
  static List<ShardRecord> samples() {
    return List.of(
        new Publish(
            new PublishHead(
                3,
                "orders.\u00e9".getBytes(StandardCharsets.UTF_8),
                new byte[] {1, -1, 0},
                Long.MIN_VALUE,
                61,
                41,
                40,
                7,
                -5,
                1_234_567,
                60_000,
                500),
            TestEntries.numbered(100, 2, 10)),
        new ShardRecord.CreateJournal(ORDERS, (1L << 53) - 1),
        new ShardRecord.ChangeJournal(3, ORDERS),
        new ShardRecord.DeleteJournal(3),
        new Trim(3, 1L << 40),
        new ShardRecord.Purge(3, "orders.a", 5, 1L << 40),
        new ShardRecord.Purge(3, "", 5, 5),
        new ShardRecord.CreateCursor(
            3,
            "billing",
            TopicFilter.parse("orders.>"),
            CursorMode.SHARED,
            CursorStart.POSITION,
            77),
        new ShardRecord.AttachCursor(3, "billing", "bus-1/a", 5),
        new ShardRecord.SettleCursor(3, "billing", 2, 80),
        new ShardRecord.DeleteCursor(3, "billing", 2),
        new ShardRecord.DetachCursor(3, "billing", 2),
        new ShardRecord.JoinCursor(3, "billing", "bus-1/a", 9),
        new ShardRecord.LeaveCursor(3, "billing", 2, true),
        new ShardRecord.TakeEvents(3, "billing", 2, 5, 64),
        new ShardRecord.SettleEvents(
            3,
            "billing",
            2,
            7,
            List.of(
                new Settlement(5, 9, 1, Outcome.DONE, -1, ""),
                new Settlement(10, 10, 2, Outcome.RETRY, 60_000, "busy"),
                new Settlement(1L << 40, 1L << 41, 3, Outcome.REJECT, -1, "wr\u00f6ng"),
                new Settlement(11, 12, 1_000, Outcome.RELEASE, 0, ""))),
        new ShardRecord.SettleEvents(3, "billing", 2, 6, List.of()),
        new ShardRecord.Redrive(3, "billing", 5, 1L << 40, true),
        new ShardRecord.SettleSlots(3, "billing", 2, progress(900, 8, 2, 1_001)),
        new ShardRecord.SettleSlots(
            3,
            "billing",
            2,
            new SlotProgress(1, 0, 0, new TreeMap<>(), List.of(), new TreeSet<>())),
        new ShardRecord.Release(3, 1_700_000_000_000L),
        new ShardRecord.ExpireProducers(1_700_000_000_000L),
        new Tick());
  }

  private static SlotProgress progress(long floor, long endSerial, int endAttempts, int attempt) {
    NavigableMap<Integer, SlotState> exceptions = new TreeMap<>();
    exceptions.put(0, new SlotState(floor, 1L << 40, attempt, 604_800_000, 1L << 41));
    exceptions.put(1, SlotState.at(7_000));
    exceptions.put(1_023, new SlotState(0, 3, 2, 0, 0));
    return new SlotProgress(
        8,
        3,
        5_000,
        exceptions,
        List.of(
            new SlotEnd(endSerial, 1_023, 77, false, endAttempts, "wr\u00f6ng"),
            new SlotEnd(1, 0, 5, true, 0, "")),
        new TreeSet<>(List.of(0, 5, 1_023)));
  }

  private static String hex(ByteBuffer entry) {
    return HexFormat.of().formatHex(TestEntries.array(entry));
  }

  @Test
  void theFormatIsTheOneThatWasWrittenBefore() throws IOException {
    StringBuilder written = new StringBuilder();
    for (ShardRecord record : samples()) {
      written
          .append(record.getClass().getSimpleName())
          .append(' ')
          .append(hex(TestEntries.bytes(1_700_000_000_123L, List.of(record))))
          .append('\n');
    }
    try (InputStream file =
        Objects.requireNonNull(EntryTest.class.getResourceAsStream("/golden/entries-1.txt"))) {
      assertThat(written.toString())
          .isEqualTo(new String(file.readAllBytes(), StandardCharsets.US_ASCII));
    }
  }

  @Test
  void anEntryIsReadAsItWasWritten() throws Exception {
    for (ShardRecord record : samples()) {
      ByteBuffer entry = TestEntries.bytes(1_700_000_000_123L, List.of(record));
      Entry read = reader.read(entry);
      assertThat(read.stamp()).isEqualTo(1_700_000_000_123L);
      assertThat(read.records()).hasSize(1);
      assertThat(entry.position()).isZero();
      if (!(record instanceof Publish)) {
        assertThat(read.records().get(0)).isEqualTo(record);
      }
      assertThat(hex(TestEntries.bytes(read.stamp(), read.records()))).isEqualTo(hex(entry));
    }
  }

  @Test
  void eventsAreReadInPlaceWhereverTheEntryLies() throws Exception {
    List<ShardRecord> records =
        List.of(
            new Publish(TestEntries.head("a", "p", 1), TestEntries.numbered(1, 3, 20)),
            new Tick(),
            new Publish(TestEntries.head("b", "p", 1), TestEntries.numbered(4, 2, 30)));
    ByteBuffer bytes = TestEntries.bytes(5, records);
    ByteBuffer entry = ByteBuffer.allocateDirect(bytes.limit() + 20).order(ByteOrder.LITTLE_ENDIAN);
    entry.position(10).put(bytes).limit(entry.position()).position(10);

    EntryWriter.setStamp(entry, 10, 6);

    Entry read = reader.read(entry);

    assertThat(read.stamp()).isEqualTo(6);
    assertThat(read.records()).hasSize(3);
    List<Long> numbers = new ArrayList<>();
    for (ShardRecord record : read.records()) {
      if (record instanceof Publish publish) {
        EventBlock events = publish.events();
        assertThat(events.buffer().isDirect()).isTrue();
        numbers.addAll(numbers(events));
      }
    }
    assertThat(numbers).containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  private static List<Long> numbers(EventBlock events) {
    ByteBuffer array = ByteBuffer.allocate(events.size());
    events.write(array);
    return TestEvents.numbers(
        new EventCursor().wrap(array.flip(), 0, array.limit(), FrameLimits.UNLIMITED));
  }

  @Test
  void aBlockLosesItsFirstEvents() {
    EventBlock events = TestEntries.numbered(7, 5, 9).without(3);

    assertThat(events.count()).isEqualTo(2);
    assertThat(numbers(events)).containsExactly(10L, 11L);
  }

  @Test
  void theLargestEventIsMeasured() throws Exception {
    EventBlock events = TestEntries.block(TestEvents.of(new byte[3], new byte[50], new byte[7]), 3);
    Entry read =
        reader.read(
            TestEntries.bytes(1, List.of(new Publish(TestEntries.head("a", "p", 1), events))));

    // Time 1, key 1, headers 1, length of the payload 1.
    assertThat(((Publish) read.records().get(0)).events().maxEventBytes()).isEqualTo(54);
  }

  @Test
  void everyLostEndIsRefused() {
    for (ShardRecord record : samples()) {
      ByteBuffer entry = TestEntries.bytes(1_700_000_000_123L, List.of(record));
      for (int i = 0; i < entry.limit(); i++) {
        ByteBuffer cut = entry.slice(0, i);
        assertThatThrownBy(() -> reader.read(cut))
            .as("%s, %d bytes", record, i)
            .isInstanceOf(EntryFormatException.class)
            .hasMessageStartingWith("entry: ")
            .hasMessageContaining(" at byte ")
            .hasMessageContaining("(expected: ");
      }
    }
  }

  @Test
  void aChangedByteIsRefusedOrReadAndNothingElse() {
    for (ShardRecord record : samples()) {
      ByteBuffer entry = TestEntries.bytes(1_700_000_000_123L, List.of(record));
      for (int i = 0; i < entry.limit(); i++) {
        for (int value = 0; value < 256; value++) {
          byte before = entry.get(i);
          entry.put(i, (byte) value);
          try {
            assertThat(reader.read(entry).records()).isNotEmpty();
          } catch (EntryFormatException e) {
            assertThat(e.getMessage()).startsWith("entry: ").contains("(expected: ");
          }
          entry.put(i, before);
        }
      }
    }
  }

  @Test
  void aRecordThatLooksForRowsIsAlone() {
    for (ShardRecord record : samples()) {
      boolean alone =
          !(record instanceof Publish
                  || record instanceof Tick
                  || record instanceof ShardRecord.CursorRecord)
              || record instanceof ShardRecord.Redrive;
      for (List<ShardRecord> records :
          List.of(List.of(record, new Tick()), List.of(new Tick(), record))) {
        ByteBuffer entry = TestEntries.bytes(1, records);
        if (alone) {
          assertThatThrownBy(() -> reader.read(entry))
              .isInstanceOf(EntryFormatException.class)
              .hasMessageContaining("beside others at byte ")
              .hasMessageEndingWith("(expected: alone in its entry)");
        } else {
          assertThat(read(entry)).hasSize(2);
        }
      }
    }
  }

  private List<ShardRecord> read(ByteBuffer entry) {
    try {
      return reader.read(entry).records();
    } catch (EntryFormatException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void countsAndNumbersAreBounded() {
    refused(publish(head -> head, -65_537, 300_000), "Publish.events count: 65537 at byte ");
    refused(publish(head -> head, -2, 1), "Publish.events: block count 2 at byte ");
    refused(publish(head -> head, 1, 10), "Publish.events: 1 events at byte ");
    refused(publish(head -> head, 0, 0), "Publish.events: 0 events at byte ");
    refused(entry(99, 1), "type: 99 at byte 9 (expected: 1..20)");
    refused(entry(0, 1), "type: 0 at byte 9 (expected: 1..20)");
    refused(ByteBuffer.allocate(9).put((byte) 1).rewind(), "records: none at byte 9 ");
    refused(ByteBuffer.allocate(9).put((byte) 2).rewind(), "format: 2 at byte 0 ");
    refused(
        ByteBuffer.allocate(10).put((byte) 1).putLong(Long.MAX_VALUE).rewind(),
        "stamp: 9223372036854775807 at byte 1 ");
    refused(entry(Entry.MAX_RECORDS + 1), "records: 65537 at byte ");
    refused(ByteBuffer.allocate(Entry.MAX_BYTES + 1), "size: 4194305 bytes at byte 0 ");
    refused(TestEntries.bytes(1, List.of(new Trim(0, 1))), "journal: 0 at byte 10 ");
    refused(TestEntries.bytes(1, List.of(new Trim(1, -1))), "Trim.upTo: -1 at byte 11 ");
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.Purge(1, "a.>", 1, 1))),
        "Purge.topic: topic 'a.>' holds a wildcard");
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.Purge(1, "", 5, 4))), "Purge.to: 4 at byte ");
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.AttachCursor(1, "a b", "o", 0))),
        "cursor.name: topic 'a b' holds ");
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.AttachCursor(1, "a", "", 0))),
        "AttachCursor.owner: no bytes at byte ");
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.AttachCursor(1, "a", "x".repeat(129), 0))),
        "AttachCursor.owner length: 129 at byte ");
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.JoinCursor(1, "a", "", 1))),
        "JoinCursor.owner: no bytes at byte ");
    for (int attempts : new int[] {0, 1_001}) {
      refused(
          TestEntries.bytes(1, List.of(new ShardRecord.JoinCursor(1, "a", "o", attempts))),
          "JoinCursor.maxAttempts: " + attempts + " at byte ");
    }
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.TakeEvents(1, "a", 1, 1, 0))),
        "TakeEvents.max: 0 at byte ");
    progressRefused(progress(-1, 8, 2, 1), "slot.floor: -5001 at byte ");
    progressRefused(progress(9, 9, 2, 1), "SlotEnd.serial: 9 at byte ");
    progressRefused(progress(9, 8, 1_001, 1), "SlotEnd.attempts: 1001 at byte ");
    progressRefused(progress(9, 8, 2, 1_002), "slot.attempt: 1002 at byte ");
    SlotEnd end = new SlotEnd(1, 1, 1, false, 0, "");
    progressRefused(
        new SlotProgress(
            1, 0, 0, new TreeMap<>(), Collections.nCopies(1_025, end), new TreeSet<>()),
        "SettleSlots.ends: 1025 at byte ");
    progressRefused(
        new SlotProgress(1, 0, 0, new TreeMap<>(), List.of(), new TreeSet<>(List.of(1_000, 1_024))),
        "slot: 23 at byte ");
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.Redrive(1, "a", 5, 4, false))),
        "Redrive.to: 4 at byte ");
    settlementRefused(new Settlement(0, 1, 1, Outcome.DONE, -1, ""), "Settlement.from: 0 at byte ");
    settlementRefused(new Settlement(5, 4, 1, Outcome.DONE, -1, ""), "Settlement.to: 4 at byte ");
    settlementRefused(
        new Settlement(5, 5, 0, Outcome.DONE, -1, ""), "Settlement.attempt: 0 at byte ");
    settlementRefused(
        new Settlement(5, 5, 1_001, Outcome.DONE, -1, ""), "Settlement.attempt: 1001 at byte ");
    settlementRefused(
        new Settlement(5, 5, 1, Outcome.RETRY, -2, ""), "Settlement.delayMillis: -2 at byte ");
    settlementRefused(
        new Settlement(5, 5, 1, Outcome.RETRY, 604_800_001, ""),
        "Settlement.delayMillis: 604800001 at byte ");
    settlementRefused(
        new Settlement(5, 5, 1, Outcome.REJECT, -1, "\u00e4".repeat(128) + "x"),
        "Settlement.reason length: 257 at byte ");
    Settlement settlement = new Settlement(1, 1, 1, Outcome.DONE, -1, "");
    refused(
        TestEntries.bytes(
            1,
            List.of(
                new ShardRecord.SettleEvents(
                    1, "a", 1, 1, Collections.nCopies(1_025, settlement)))),
        "SettleEvents.settlements: 1025 at byte ");
    refused(publish(head -> changed(head, 0, -1, ""), -1, 0), "Publish.sequence: 0 at byte ");
    refused(publish(head -> changed(head, 5, 5, ""), -1, 0), "Publish.previous: 5 at byte ");
    long tooFar = Long.MAX_VALUE - 65_535;
    for (long origin : new long[] {Long.MIN_VALUE, 0, tooFar}) {
      refused(
          publish(head -> TestEntries.withOrigin(head, origin), -1, 0),
          "Publish.originSequence: " + origin + " at byte ");
    }
    refused(publish(head -> changed(head, 5, -2, ""), -1, 0), "Publish.previous: -2 at byte ");
    refused(
        publish(head -> changed(head, 5, -1, "x".repeat(129)), -1, 0),
        "Publish.producer length: 129 at byte ");
  }

  private void progressRefused(SlotProgress progress, String message) {
    refused(
        TestEntries.bytes(1, List.of(new ShardRecord.SettleSlots(1, "a", 1, progress))), message);
  }

  private void settlementRefused(Settlement settlement, String message) {
    refused(
        TestEntries.bytes(
            1, List.of(new ShardRecord.SettleEvents(1, "a", 1, 1, List.of(settlement)))),
        message);
  }

  private static PublishHead changed(
      PublishHead head, long sequence, long previous, String producer) {
    byte[] key =
        producer.isEmpty() ? head.producer() : producer.getBytes(StandardCharsets.US_ASCII);
    return new PublishHead(1, head.topic(), key, 1, 1, sequence, previous, 0, 0, 0, 0, 0);
  }

  private static ByteBuffer publish(
      UnaryOperator<PublishHead> change, long blockCount, int blockBytes) {
    ByteBuffer out = ByteBuffer.allocate(1_000 + blockBytes);
    EntryWriter.begin(out);
    EntryWriter.writeHead(out, change.apply(TestEntries.head("a", "p", 1)));
    Varint.write(out, blockCount);
    if (blockCount < 0) {
      Varint.write(out, blockBytes);
    }
    return out.position(out.position() + blockBytes).put((byte) 0).flip();
  }

  private static ByteBuffer entry(int code, int more) {
    ByteBuffer out = ByteBuffer.allocate(100);
    EntryWriter.begin(out);
    Varint.write(out, code);
    Varint.write(out, more);
    return out.flip();
  }

  private static ByteBuffer entry(int ticks) {
    ByteBuffer out = ByteBuffer.allocate(9 + ticks);
    EntryWriter.begin(out);
    for (int i = 0; i < ticks; i++) {
      Varint.write(out, RecordType.TICK.code());
    }
    return out.flip();
  }

  private void refused(ByteBuffer entry, String message) {
    assertThatThrownBy(() -> reader.read(entry))
        .isInstanceOf(EntryFormatException.class)
        .hasMessageStartingWith("entry: " + message);
  }
}
