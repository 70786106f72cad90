package io.eventbus.client.internal.inbound;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Under CONFLATE, against a plain model: events arrive and are read in any mixture. */
class EventReaderProperties {
  private static final int BYTES = 1 << 20;

  private final InboundQueue queue = new InboundQueue(BYTES, null, () -> 0);
  private final LatestEvents latest = new LatestEvents();
  private final LongAdder received = new LongAdder();
  private final List<Gap> told = new ArrayList<>();
  private final List<Object> seen = new ArrayList<>();
  private final EventReader reader =
      new EventReader(queue, new Acks(), received, BYTES, latest, ">", told::add);
  private final Map<Integer, ProducerState> topics = new HashMap<>();
  private final Map<Integer, Long> sequences = new HashMap<>();
  private final Map<String, String> last = new HashMap<>();

  /**
   * Reads while events arrive: odd steps bring a frame, even ones read some events; each digit is a
   * key or a number.
   */
  @Property(tries = 300)
  void eachEventIsTheLastOfItsKeyOrToldBeforeTheNext(
      @ForAll @Size(max = 60) List<@IntRange(max = 9_999) Integer> steps) {
    reader.onGap(seen::add);
    for (int step : steps) {
      if (step % 2 == 1) {
        arrive(step / 1000 % 3, String.valueOf(step / 2 % 500));
      } else {
        read(step % 7);
      }
    }
    read(Integer.MAX_VALUE);
    assertThat(latest.size()).isZero();
    assertThat(queue.bytes()).isZero();
    assertThat(seen.stream().filter(Gap.class::isInstance).toList()).isEqualTo(told);
    assertNothingIsMissing();
  }

  private void arrive(int topic, String keys) {
    ProducerState origin =
        topics.computeIfAbsent(
            topic, t -> new ProducerState(new TopicHandlers("t" + t, new TopicHandlers.Key()), 7));
    ByteBuffer events = ByteBuffer.allocate(1024);
    // A single block, whose count is so small that it is one byte, and the end.
    events.put((byte) (2 * keys.length()));
    long first = sequences.getOrDefault(topic, 1L);
    for (int i = 0; i < keys.length(); i++) {
      String key = keys.charAt(i) == '0' ? null : keys.substring(i, i + 1);
      Frames.writeEvent(
          events, 1, key == null ? null : key.getBytes(UTF_8), EncodedHeaders.NONE, new byte[3]);
      last.put(topic + "/" + key, topic + "/" + (first + i));
    }
    events.put((byte) 0);
    sequences.put(topic, first + keys.length());
    InboundDelivery delivery =
        new InboundDelivery(
            events, 0, events.position(), origin, first, 0, 1, keys.length(), 0, null);
    latest.add(delivery);
    queue.offer(List.of(delivery), delivery.bytes() + LatestEvents.bytes(delivery), 1024);
  }

  private void read(int count) {
    for (int i = 0; i < count; i++) {
      ReceivedEvent event = reader.next();
      if (event == null) {
        return;
      }
      String topic = event.topic().substring(1);
      assertThat(topic + "/" + event.sequence()).isEqualTo(last.get(topic + "/" + event.key()));
      seen.add(event);
    }
  }

  private void assertNothingIsMissing() {
    long events = 0;
    for (Map.Entry<Integer, Long> entry : sequences.entrySet()) {
      int topic = entry.getKey();
      TreeSet<Long> left = new TreeSet<>();
      for (long n = 1; n < entry.getValue(); n++) {
        left.add(n);
      }
      for (Object one : seen) {
        if (one instanceof ReceivedEvent event && event.topic().equals("t" + topic)) {
          assertThat(left.first()).as("told before what follows").isEqualTo(event.sequence());
          left.remove(event.sequence());
          events++;
        } else if (one instanceof Gap gap && gap.topic().equals("t" + topic)) {
          for (long n = gap.from(); n <= gap.to(); n++) {
            assertThat(left.remove(n)).isTrue();
          }
        }
      }
      assertThat(left).isEmpty();
    }
    assertThat(received.sum()).isEqualTo(events);
  }
}
