package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.EventCursor;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.SampleFrames;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** Conflater against a map. */
class ConflaterProperties {
  private record Key(String topic, @Nullable String key) {}

  private record Value(String topic, long producer, long sequence, String payload, long bytes) {}

  record Add(String topic, long producer, List<SampleFrames.Event> events, int polls) {}

  @Provide
  Arbitrary<List<Add>> adds() {
    Arbitrary<SampleFrames.Event> event =
        Combinators.combine(
                Arbitraries.of("k1", "k2", "k3", "").injectNull(0.2),
                Arbitraries.integers().between(0, 200).map("x"::repeat))
            .as(SampleFrames.Event::new);
    return Combinators.combine(
            Arbitraries.of("a", "b"),
            Arbitraries.longs().between(1, 2),
            event.list().ofMinSize(1).ofMaxSize(5),
            Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(4, Arbitraries.just(0)),
                net.jqwik.api.Tuple.of(1, Arbitraries.integers().between(1, 10))))
        .as(Add::new)
        .list()
        .ofMaxSize(30);
  }

  @Property
  void keepsTheLastOfEachKeyWithinItsBound(
      @ForAll("adds") List<Add> adds, @ForAll boolean bounded) {
    UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    BusMemory memory = new BusMemory(1 << 30);
    long limit = bounded ? 1500 : 1 << 20;
    Conflater conflater = new Conflater(memory, new LastEvents(), limit);
    Map<Key, Value> model = new LinkedHashMap<>();
    Map<String, Set<Long>> conflated = new HashMap<>();
    Map<String, Set<Long>> overLimit = new HashMap<>();
    Map<String, Long> sequences = new HashMap<>();
    DeliveryAllocator deliveries = DeliveryAllocator.forOne(allocator, memory);
    long bytes = 0;

    for (Add add : adds) {
      String stream = add.topic() + " " + add.producer();
      long first = sequences.getOrDefault(stream, 1L);
      sequences.put(stream, first + add.events().size());
      Delivery delivery =
          SampleFrames.delivery(
              allocator, memory, add.topic(), add.producer(), first, 9, add.events());
      Conflater.Dropped dropped = conflater.add(delivery);
      delivery.release();

      int lost = 0;
      int over = 0;
      List<Value> last = lastOfEachKey(allocator, memory, add, first, limit);
      long cut = first + cut(allocator, memory, add, limit);
      for (long n = first; n < first + add.events().size(); n++) {
        long sequence = n;
        if (n < cut) {
          overLimit.computeIfAbsent(stream, s -> new TreeSet<>()).add(n);
          over++;
        } else if (last.stream().noneMatch(v -> v.sequence() == sequence)) {
          conflated.computeIfAbsent(stream, s -> new TreeSet<>()).add(n);
          lost++;
        }
      }
      Collections.reverse(last);
      for (Value v : last) {
        Key key = new Key(add.topic(), add.events().get((int) (v.sequence() - first)).key());
        Value before = model.remove(key);
        if (before != null) {
          bytes -= before.bytes();
          conflated.computeIfAbsent(stream(before), s -> new TreeSet<>()).add(before.sequence());
          lost++;
        }
        for (Iterator<Value> oldest = model.values().iterator(); bytes + v.bytes() > limit; ) {
          Value victim = oldest.next();
          oldest.remove();
          bytes -= victim.bytes();
          overLimit.computeIfAbsent(stream(victim), s -> new TreeSet<>()).add(victim.sequence());
          over++;
        }
        model.put(key, v);
        bytes += v.bytes();
      }
      assertThat(dropped.conflated()).isEqualTo(lost);
      assertThat(dropped.overLimit()).isEqualTo(over);

      for (int i = 0; i < add.polls(); i++) {
        Conflater.Kept kept = conflater.poll();
        if (model.isEmpty()) {
          assertThat(kept).isNull();
          break;
        }
        Value v = model.remove(model.keySet().iterator().next());
        bytes -= v.bytes();
        check(kept, v, deliveries);
      }
      assertThat(conflater.bytes()).isEqualTo(bytes).isLessThanOrEqualTo(limit);
      assertThat(conflater.size()).isEqualTo(model.size());
      assertThat(conflater.isEmpty()).isEqualTo(model.isEmpty());
      for (String topic : List.of("a", "b")) {
        assertThat(conflater.holds(topic))
            .isEqualTo(model.values().stream().anyMatch(v -> v.topic().equals(topic)));
      }
      assertThat(memory.used()).isEqualTo(bytes);
    }
    Map<String, Set<Long>> toldConflated = new HashMap<>();
    Map<String, Set<Long>> toldOver = new HashMap<>();
    for (Gap gap : conflater.gaps().takeAll()) {
      Set<Long> numbers =
          (gap.getReason() == GapReason.CONFLATED ? toldConflated : toldOver)
              .computeIfAbsent(gap.getTopic() + " " + gap.getProducer(), s -> new TreeSet<>());
      for (long n = gap.getFrom(); n <= gap.getTo(); n++) {
        assertThat(numbers.add(n)).as("told once").isTrue();
      }
    }
    assertThat(toldConflated).isEqualTo(conflated);
    assertThat(toldOver).isEqualTo(overLimit);
    List<Value> left = new ArrayList<>(model.values());
    if (adds.size() % 2 == 0) {
      for (Value v : left) {
        check(conflater.poll(), v, deliveries);
      }
      assertThat(conflater.poll()).isNull();
    }
    conflater.clear();
    assertThat(conflater.isEmpty()).isTrue();
    assertThat(conflater.bytes()).isZero();
    assertThat(memory.used()).isZero();
    assertThat(allocator.metric().usedDirectMemory()).isZero();
  }

  /** Returns how many events at the beginning are older than those that fit. */
  private static int cut(
      UnpooledByteBufAllocator allocator, BusMemory memory, Add add, long limit) {
    Set<@Nullable String> seen = new HashSet<>();
    long bytes = 0;
    for (int i = add.events().size() - 1; i >= 0; i--) {
      SampleFrames.Event e = add.events().get(i);
      bytes += seen.add(e.key()) ? keptBytes(allocator, memory, e) : 0;
      if (bytes > limit) {
        return i + 1;
      }
    }
    return 0;
  }

  /** Returns the newest first, as many as fit. */
  private static List<Value> lastOfEachKey(
      UnpooledByteBufAllocator allocator, BusMemory memory, Add add, long first, long limit) {
    List<Value> last = new ArrayList<>();
    Set<@Nullable String> seen = new HashSet<>();
    long bytes = 0;
    for (int i = add.events().size() - 1; i >= 0; i--) {
      SampleFrames.Event e = add.events().get(i);
      if (!seen.add(e.key())) {
        continue;
      }
      long size = keptBytes(allocator, memory, e);
      bytes += size;
      if (bytes > limit) {
        break;
      }
      last.add(new Value(add.topic(), add.producer(), first + i, e.payload(), size));
    }
    return last;
  }

  private static long keptBytes(
      UnpooledByteBufAllocator allocator, BusMemory memory, SampleFrames.Event e) {
    Delivery alone = SampleFrames.delivery(allocator, memory, "a", 1, 1, 9, List.of(e));
    LastEvents events = new LastEvents();
    events.find(alone, Long.MAX_VALUE);
    EventCursor event = events.event(0);
    long size = Conflater.keptBytes(event.eventEnd() - event.eventStart(), e.key());
    alone.release();
    return size;
  }

  private static String stream(Value v) {
    return v.topic() + " " + v.producer();
  }

  private static void check(Conflater.@Nullable Kept kept, Value v, DeliveryAllocator deliveries) {
    if (kept == null) {
      throw new AssertionError("nothing (expected: " + v + ")");
    }
    Delivery delivery = kept.delivery(deliveries);
    SampleFrames.Delivered d = SampleFrames.read(delivery);
    assertThat(new Value(d.topic(), d.producer(), d.sequence(), d.payloads().get(0), v.bytes()))
        .isEqualTo(v);
    assertThat(d.events()).hasSize(1);
    assertThat(kept.topic()).isEqualTo(v.topic());
    assertThat(kept.producer()).isEqualTo(v.producer());
    assertThat(kept.sequence()).isEqualTo(v.sequence());
    assertThat(delivery.events()).isEqualTo(1);
    assertThat(delivery.receivedNanos()).isEqualTo(9);
    delivery.release();
    deliveries.close();
  }
}
