package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Ledger against sets of numbers. */
class GapLedgerProperties {
  record Range(String topic, long producer, int from, int length, GapReason reason) {
    String stream() {
      return topic + " " + producer + " " + reason;
    }
  }

  @Provide
  Arbitrary<List<Range>> ranges() {
    return Combinators.combine(
            Arbitraries.of("a", "b"),
            Arbitraries.longs().between(1, 2),
            Arbitraries.integers().between(1, 60),
            Arbitraries.integers().between(1, 6),
            Arbitraries.of(GapReason.QUEUE_FULL, GapReason.CONFLATED))
        .as(Range::new)
        .list()
        .ofMaxSize(40);
  }

  private static String stream(Gap gap) {
    return gap.getTopic() + " " + gap.getProducer() + " " + gap.getReason();
  }

  /** Returns the ranges that should be told: apart by at least one number. */
  private static List<String> told(Map<String, SortedSet<Long>> model) {
    List<String> all = new ArrayList<>();
    model.forEach(
        (stream, numbers) -> {
          long start = -1;
          long last = -1;
          for (long n : numbers) {
            if (start >= 0 && n != last + 1) {
              all.add(stream + " " + start + ".." + last);
              start = n;
            } else if (start < 0) {
              start = n;
            }
            last = n;
          }
          if (start >= 0) {
            all.add(stream + " " + start + ".." + last);
          }
        });
    return all;
  }

  private static String text(Gap gap) {
    return stream(gap) + " " + gap.getFrom() + ".." + gap.getTo();
  }

  private static Map<String, SortedSet<Long>> fill(GapLedger ledger, List<Range> ranges) {
    Map<String, SortedSet<Long>> model = new TreeMap<>();
    for (Range r : ranges) {
      ledger.add(r.topic(), r.producer(), r.from(), r.from() + r.length() - 1L, r.reason());
      SortedSet<Long> numbers = model.computeIfAbsent(r.stream(), s -> new TreeSet<>());
      for (int i = 0; i < r.length(); i++) {
        numbers.add((long) r.from() + i);
      }
    }
    return model;
  }

  @Property
  void tellsExactlyWhatWasAddedAsFewRanges(@ForAll("ranges") List<Range> ranges) {
    GapLedger ledger = new GapLedger();
    Map<String, SortedSet<Long>> model = fill(ledger, ranges);
    List<String> expected = told(model);
    assertThat(ledger.size()).isEqualTo(expected.size());
    assertThat(ledger.isEmpty()).isEqualTo(expected.isEmpty());
    assertThat(ledger.takeAll())
        .extracting(GapLedgerProperties::text)
        .containsExactlyInAnyOrderElementsOf(expected);
    assertThat(ledger.size()).isZero();
    assertThat(ledger.takeAll()).isEmpty();
  }

  @Property
  void tellsAStreamUpToANumberAndKeepsTheRest(
      @ForAll("ranges") List<Range> ranges, @ForAll("ranges") List<Range> asked) {
    GapLedger ledger = new GapLedger();
    List<String> expected = told(fill(ledger, ranges));
    List<String> all = new ArrayList<>();
    for (Range r : asked) {
      List<Gap> taken = ledger.takeBefore(r.topic(), r.producer(), r.from());
      assertThat(taken).extracting(Gap::getFrom).isSorted();
      for (Gap gap : taken) {
        assertThat(gap.getTopic()).isEqualTo(r.topic());
        assertThat(gap.getProducer()).isEqualTo(r.producer());
        assertThat(gap.getFrom()).isLessThan(r.from());
      }
      taken.forEach(g -> all.add(text(g)));
      assertThat(ledger.size()).isEqualTo(expected.size() - all.size());
      assertThat(ledger.takeBefore(r.topic(), r.producer(), r.from())).isEmpty();
    }
    ledger.takeAll().forEach(g -> all.add(text(g)));
    assertThat(all).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(ledger.isEmpty()).isTrue();
  }

  @Example
  void theLargestNumbersDoNotOverflow() {
    GapLedger ledger = new GapLedger();
    ledger.add("t", 1, Long.MAX_VALUE - 1, Long.MAX_VALUE - 1, GapReason.QUEUE_FULL);
    ledger.add("t", 1, 1, 1, GapReason.QUEUE_FULL);
    assertThat(ledger.size()).isEqualTo(2);
  }
}
