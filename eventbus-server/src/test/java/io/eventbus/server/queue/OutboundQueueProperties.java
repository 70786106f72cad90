package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Gap;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.transport.QueueHandler;
import io.eventbus.server.transport.Wire;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Subscriber with topics under different policies, which sometimes reads and sometimes not: of each
 * topic and producer every event comes or is told as missing, once, and before what follows.
 */
class OutboundQueueProperties {
  private record Stream(String topic, long producer) {}

  @Property(tries = 300)
  void everyEventComesOrIsToldBeforeTheNext(@ForAll long seed) {
    Random random = new Random(seed);
    // Less and more than what is written at a time.
    int kibibytes = random.nextBoolean() ? 40 : 80;
    Wire wire = new Wire(Wire.queue(kibibytes + "KiB"));
    QueueHandler handler = wire.connectQueue();
    OutboundQueue queue = handler.queue;
    Map<String, Overflow> policies =
        Map.of(
            "block", Overflow.BLOCK,
            "drop", Overflow.DROP_OLDEST,
            "drop.too", Overflow.DROP_OLDEST,
            "conflate", Overflow.CONFLATE,
            "conflate.too", Overflow.CONFLATE);
    List<String> topics = policies.keySet().stream().sorted().toList();
    // A connection may have one policy only.
    int from = random.nextInt(topics.size());
    int to = from + 1 + random.nextInt(topics.size() - from);
    Map<Stream, Long> last = new HashMap<>();
    Map<Stream, NavigableSet<Long>> missing = new HashMap<>();
    long events = 0;

    int steps = 50 + random.nextInt(400);
    for (int i = 0; i < steps; i++) {
      switch (random.nextInt(12)) {
        case 0 -> wire.stick();
        case 1 -> {
          wire.unstick();
          take(wire.frames(), missing, policies);
        }
        case 2 -> {
          wire.take(random.nextInt(4));
          take(wire.frames(), missing, policies);
        }
        case 3 -> wire.tick(System.nanoTime());
        default -> {
          String topic = topics.get(from + random.nextInt(to - from));
          Overflow policy = policies.getOrDefault(topic, Overflow.BLOCK);
          if (policy == Overflow.BLOCK && queue.isFull()) {
            continue;
          }
          Stream stream = new Stream(topic, 1 + random.nextInt(2));
          long first = last.getOrDefault(stream, 0L) + 1;
          List<SampleFrames.Event> batch = new ArrayList<>();
          for (int n = 1 + random.nextInt(4); n > 0; n--) {
            int size = random.nextInt(20) == 0 ? 18_000 : random.nextInt(2500);
            batch.add(new SampleFrames.Event("k" + random.nextInt(6), "x".repeat(size)));
          }
          last.put(stream, first + batch.size() - 1);
          for (int n = 0; n < batch.size(); n++) {
            missing.computeIfAbsent(stream, s -> new TreeSet<>()).add(first + n);
          }
          events += batch.size();
          Delivery d =
              SampleFrames.delivery(
                  wire.allocator,
                  wire.memory,
                  topic,
                  stream.producer(),
                  first,
                  System.nanoTime(),
                  batch);
          queue.offer(d, policy);
          d.release();
          assertThat(queue.delivered()).isEqualTo(events);
          assertThat(wire.stats.eventsOut.get() + queue.dropped()).isLessThanOrEqualTo(events);
          // A batch may hold four large events, and events kept aside are bounded on their own.
          assertThat(queue.bytes()).isLessThan(2L * kibibytes * 1024 + 4 * 20_000 + 16 * 1024);
        }
      }
    }
    wire.unstick();
    take(wire.frames(), missing, policies);
    missing.forEach((stream, left) -> assertThat(left).as("%s", stream).isEmpty());
    assertThat(queue.delivered()).isEqualTo(events);
    assertThat(wire.stats.eventsOut.get() + queue.dropped()).isEqualTo(events);
    assertThat(queue.bytes()).isZero();
    assertThat(queue.isFull()).isFalse();
    assertThat(handler.tooSlow).isEmpty();
    wire.assertNothingHeld();
  }

  private static void take(
      List<Object> frames,
      Map<Stream, NavigableSet<Long>> missing,
      Map<String, Overflow> policies) {
    for (Object frame : frames) {
      if (frame instanceof Gap gap) {
        assertThat(policies.get(gap.getTopic())).isNotEqualTo(Overflow.BLOCK);
        NavigableSet<Long> left = left(missing, gap.getTopic(), gap.getProducer());
        for (long n = gap.getFrom(); n <= gap.getTo(); n++) {
          assertThat(left.remove(n)).as("%s told once", gap).isTrue();
        }
      } else if (frame instanceof SampleFrames.Delivered d) {
        NavigableSet<Long> left = left(missing, d.topic(), d.producer());
        for (int i = 0; i < d.events().size(); i++) {
          long sequence = d.sequence() + i;
          assertThat(left.remove(sequence)).as("%s %d once", d.topic(), sequence).isTrue();
          assertThat(left.headSet(sequence))
              .as("%s: not told before %d", d.topic(), sequence)
              .isEmpty();
        }
      } else {
        throw new AssertionError(frame);
      }
    }
  }

  private static NavigableSet<Long> left(
      Map<Stream, NavigableSet<Long>> missing, String topic, long producer) {
    return missing.computeIfAbsent(new Stream(topic, producer), s -> new TreeSet<>());
  }
}
