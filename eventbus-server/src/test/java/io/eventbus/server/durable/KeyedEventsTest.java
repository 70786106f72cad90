package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.Retention;
import io.eventbus.journal.SlotState;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.SampleFrames.Delivered;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class KeyedEventsTest {
  private static int slotOf(String key) {
    byte[] utf8 = key.getBytes(StandardCharsets.UTF_8);
    return SlotState.slotOf(ByteBuffer.wrap(utf8), 0, utf8.length);
  }

  @Test
  void theSlotOfAKeyIsAlwaysTheSame() {
    assertThat(List.of(slotOf(""), slotOf("a"), slotOf("h\u00e4"), slotOf("customer-1")))
        .containsExactly(217, 288, 558, 88);
  }

  @Test
  void keysAreSpreadOverTheSlots() {
    int[] found = new int[SlotState.SLOTS];
    for (int i = 0; i < 100 * SlotState.SLOTS; i++) {
      found[slotOf("customer-" + i)]++;
    }
    for (int count : found) {
      assertThat(count).isBetween(50, 150);
    }
  }

  @Test
  void eventsAreFoundFromAPositionOnWithTheSlotsOfTheirKeysOrTopics() {
    FakeJournals journals = new FakeJournals();
    var unused =
        journals.create(
            new JournalDefinition(
                "a",
                List.of(TopicFilter.parse("a.>")),
                KeepPolicy.ALL,
                Retention.UNLIMITED,
                FullPolicy.DROP_OLD));
    FakeEvents.publishKeyed(journals, "k1", 1, "a.x", 1, "1", "2");
    FakeEvents.publish(journals, 1, "a.x", 3, "3", "4");
    FakeEvents.publishKeyed(journals, "k2", 1, "a.y", 1, "5");
    ReadBatch batch =
        Objects.requireNonNull(
            journals.reader(1, TopicFilter.parse("a.*")).read(1, Integer.MAX_VALUE));
    BusMemory memory = new BusMemory(1 << 30);
    FeedPiece piece = FeedPieces.of(batch, new UnpooledByteBufAllocator(true), memory).get(0);

    KeyedEvents events = new KeyedEvents(Objects.requireNonNull(piece.frames()).frame(), 2);
    List<Long> positions = new ArrayList<>();
    List<Integer> slots = new ArrayList<>();
    List<String> payloads = new ArrayList<>();
    while (events.next()) {
      positions.add(events.position());
      slots.add(events.slot());
      payloads.addAll(((Delivered) SampleFrames.read(events.frame()).get(0)).payloads());
    }

    assertThat(positions).containsExactly(2L, 3L, 4L, 5L);
    assertThat(slots).containsExactly(slotOf("k1"), slotOf("a.x"), slotOf("a.x"), slotOf("k2"));
    assertThat(payloads).as("each event alone").containsExactly("2", "3", "4", "5");
    piece.release();
    assertThat(memory.used()).isZero();
  }
}
