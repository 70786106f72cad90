package io.eventbus.client.internal.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** Reports to a subscriber about sequence numbers, against a plain model: sets of numbers. */
class ProducerStateProperties {
  private static ProducerState state() {
    return new ProducerState(new TopicHandlers("t", new TopicHandlers.Key()), 1);
  }

  /** Frame of events, or a Gap frame of the bus for the events before the next ones. */
  record Step(Kind kind, int skip, int count) {}

  enum Kind {
    EVENTS,
    LOST_THEN_EVENTS,
    GAP_THEN_EVENTS,
    AGAIN
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.of(Kind.class),
            Arbitraries.integers().between(1, 5),
            Arbitraries.integers().between(1, 5))
        .as(Step::new)
        .list()
        .ofMaxSize(40);
  }

  @Property
  void everyNumberIsDeliveredOnceOrToldOnce(@ForAll("steps") List<Step> steps) {
    ProducerState state = state();
    Set<Long> delivered = new TreeSet<>();
    List<Long> told = new ArrayList<>();
    RangeList.Sink sink =
        (from, to) -> {
          for (long n = from; n <= to; n++) {
            told.add(n);
          }
        };
    long next = 100;
    Set<Long> lost = new TreeSet<>();
    for (Step step : steps) {
      long first = next;
      switch (step.kind) {
        case EVENTS -> {}
        case LOST_THEN_EVENTS -> first = next + step.skip;
        case GAP_THEN_EVENTS -> {
          first = next + step.skip;
          // The bus may only know a part of the missing events.
          state.gap(next, next + step.skip / 2, sink);
        }
        case AGAIN -> first = Math.max(100, next - step.skip);
      }
      if (delivered.isEmpty() && step.kind == Kind.LOST_THEN_EVENTS) {
        // Nothing was seen yet: the first event is the beginning.
        next = first;
      }
      for (long n = next; n < first; n++) {
        lost.add(n);
      }
      int skip = state.received(first, step.count, true, sink);
      for (long n = first + skip; n < first + step.count; n++) {
        assertThat(delivered.add(n)).as("delivered once: %s", n).isTrue();
      }
      next = Math.max(next, first + step.count);
    }
    if (!delivered.isEmpty()) {
      long base = delivered.iterator().next();
      lost.removeIf(n -> n < base);
      List<Long> toldAfterBase = told.stream().filter(n -> n > base).toList();
      assertThat(toldAfterBase).doesNotHaveDuplicates();
      assertThat(new HashSet<>(toldAfterBase)).isEqualTo(lost);
      for (long n = base; n < next; n++) {
        assertThat(delivered.contains(n) ^ lost.contains(n)).as("number %s", n).isTrue();
      }
    }
  }

  @Property
  void aGroupMemberIsGivenEverythingThatItHasNotSeen(@ForAll("steps") List<Step> steps) {
    ProducerState state = state();
    Set<Long> delivered = new HashSet<>();
    long next = 1;
    for (Step step : steps) {
      long first = step.kind == Kind.AGAIN ? Math.max(1, next - step.skip) : next + step.skip;
      int skip =
          state.received(first, step.count, false, (from, to) -> assertThat(from).isNegative());
      for (long n = first; n < first + step.count; n++) {
        if (n < first + skip) {
          assertThat(delivered).as("only what was seen is dropped").contains(n);
        } else {
          delivered.add(n);
        }
      }
      next = Math.max(next, first + step.count);
    }
  }

  @Test
  void aSubscriptionOfItsOwnAfterAGroupStartsAnew() {
    ProducerState state = state();
    List<String> gaps = new ArrayList<>();
    RangeList.Sink sink = (from, to) -> gaps.add(from + ".." + to);
    assertThat(state.received(5, 1, false, sink)).isZero();
    assertThat(state.received(9, 1, true, sink)).isZero();
    assertThat(gaps).isEmpty();
    assertThat(state.received(11, 1, true, sink)).isZero();
    assertThat(gaps).containsExactly("10..10");
  }
}
