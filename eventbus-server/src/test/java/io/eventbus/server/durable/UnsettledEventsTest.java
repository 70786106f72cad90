package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class UnsettledEventsTest {
  private static final int SEEDS = 200;
  private static final int STEPS = 300;
  private static final int POSITIONS = 60;

  private record One(int attempt, long deadline, boolean late) {}

  private static List<Long> settle(UnsettledEvents events, long from, long to, int attempt) {
    List<Long> all = new ArrayList<>();
    boolean unused =
        events.settle(
            from,
            to,
            attempt,
            (first, last, number) -> {
              assertThat(number).isEqualTo(attempt);
              for (long i = first; i <= last; i++) {
                all.add(i);
              }
            });
    return all;
  }

  @Test
  void theyAreThoseOfAMapOfPositions() {
    for (int seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      UnsettledEvents events = new UnsettledEvents(POSITIONS);
      SortedMap<Long, One> model = new TreeMap<>();
      long now = 0;
      for (int step = 0; step < STEPS; step++) {
        now++;
        long from = random.nextLong(1, POSITIONS);
        long to = Math.min(POSITIONS, from + random.nextInt(8));
        int attempt = 1 + random.nextInt(2);
        SortedMap<Long, One> part = model.subMap(from, to + 1);
        switch (random.nextInt(4)) {
          case 0 -> {
            if (part.values().stream().allMatch(One::late)) {
              long deadline = now + random.nextInt(20);
              events.add(from, to, attempt, deadline);
              for (long i = from; i <= to; i++) {
                model.put(i, new One(attempt, deadline, false));
              }
            }
          }
          case 1 -> {
            boolean complete =
                !part.isEmpty()
                    && part.values().stream().allMatch(e -> !e.late() && e.attempt() == attempt);
            List<Long> expected = new ArrayList<>();
            part.forEach(
                (position, e) -> {
                  if (!e.late() && e.attempt() == attempt) {
                    expected.add(position);
                  }
                });
            List<Long> got = new ArrayList<>();
            boolean said =
                events.settle(
                    from,
                    to,
                    attempt,
                    (first, last, number) -> {
                      for (long i = first; i <= last; i++) {
                        got.add(i);
                      }
                    });
            assertThat(got).isEqualTo(expected);
            assertThat(said).isEqualTo(complete);
            part.values().removeIf(e -> e.attempt() == attempt);
          }
          case 2 -> {
            long deadline = now + random.nextInt(20);
            boolean complete =
                !part.isEmpty()
                    && part.values().stream().allMatch(e -> !e.late() && e.attempt() == attempt);
            assertThat(events.extend(from, to, attempt, deadline)).isEqualTo(complete);
            part.replaceAll(
                (position, e) ->
                    e.late() || e.attempt() != attempt ? e : new One(attempt, deadline, false));
          }
          default -> {
            long time = now;
            List<Long> got = new ArrayList<>();
            events.expire(
                time,
                (first, last, number) -> {
                  for (long i = first; i <= last; i++) {
                    got.add(i);
                  }
                });
            List<Long> expected = new ArrayList<>();
            model.replaceAll(
                (position, e) -> {
                  if (e.late() || e.deadline() > time) {
                    return e;
                  }
                  expected.add(position);
                  return new One(e.attempt(), e.deadline(), true);
                });
            assertThat(got).isEqualTo(expected);
          }
        }
        assertThat(events.events())
            .as("seed %d, step %d", seed, step)
            .isEqualTo((int) model.values().stream().filter(e -> !e.late()).count());
      }
    }
  }

  @Test
  void whatIsLateIsForgottenAboveABound() {
    UnsettledEvents events = new UnsettledEvents(3);
    for (int i = 1; i <= 9; i += 2) {
      events.add(i, i, 1, 0);
      events.expire(1, (from, to, attempt) -> {});
    }
    assertThat(events.ranges()).isLessThanOrEqualTo(3);
    assertThat(events.events()).isZero();
    assertThat(settle(events, 9, 9, 1)).as("late").isEmpty();
    events.add(11, 12, 1, 5);
    assertThat(settle(events, 11, 12, 1)).containsExactly(11L, 12L);
  }

  @Test
  void whatComesAgainIsNotLateAnyMore() {
    UnsettledEvents events = new UnsettledEvents(9);
    events.add(1, 4, 1, 0);
    events.expire(1, (from, to, attempt) -> {});
    events.add(2, 3, 2, 9);
    assertThat(settle(events, 2, 3, 2)).containsExactly(2L, 3L);
    assertThat(events.settle(1, 1, 1, (from, to, attempt) -> {})).isFalse();
  }
}
