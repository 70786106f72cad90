package io.eventbus.server.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.schema.ErrorCode;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class StatsTest {
  @Test
  void aDurationFallsIntoTheFirstBucketThatHoldsIt() {
    long[] bounds = LatencyBuckets.boundsMicros();
    assertThat(Arrays.stream(bounds).boxed().toList()).isSorted().doesNotHaveDuplicates();
    LatencyBuckets buckets = new LatencyBuckets();
    for (long bound : bounds) {
      buckets.record(bound * 1000);
      buckets.record(bound * 1000 + 1000);
    }
    long[] counts = buckets.counts();
    assertThat(counts).hasSize(bounds.length + 1);
    // Each bucket has its own bound, and all but the first the value just above the one before.
    assertThat(counts[0]).isEqualTo(1);
    for (int i = 1; i < bounds.length; i++) {
      assertThat(counts[i]).as("up to %d", bounds[i]).isEqualTo(2);
    }
    assertThat(counts[bounds.length]).isEqualTo(1);
    assertThat(buckets.sumMicros()).isEqualTo(LongStream.of(bounds).map(b -> 2 * b + 1).sum());
  }

  @Test
  void aClockThatWentBackCountsAsNothing() {
    LatencyBuckets buckets = new LatencyBuckets();
    buckets.record(-5_000_000);
    assertThat(buckets.counts()[0]).isEqualTo(1);
    assertThat(buckets.sumMicros()).isZero();
  }

  @Test
  void theBoundsAreACopy() {
    LatencyBuckets.boundsMicros()[0] = -1;
    assertThat(LatencyBuckets.boundsMicros()[0]).isPositive();
  }

  @Test
  void aBusSumsItsLoops() {
    BusCounters counters = new BusCounters(3);
    for (int i = 0; i < 3; i++) {
      counters.loops().get(i).eventsIn.add(i + 1);
      counters.loops().get(i).drops(DropReason.CONFLATED).add(10);
    }
    assertThat(counters.sum(l -> l.eventsIn.get())).isEqualTo(6);
    assertThat(counters.sum(l -> l.drops(DropReason.CONFLATED).get())).isEqualTo(30);
    assertThat(counters.sum(l -> l.drops(DropReason.QUEUE_FULL).get())).isZero();
  }

  @Test
  void rareThingsAreCountedByTheirKind() {
    BusCounters counters = new BusCounters(1);
    counters.countClose(CloseReason.IDLE);
    counters.countClosedByPeer();
    counters.countProblem(ErrorCode.TOO_BIG);
    counters.countProblem(ErrorCode.TOO_BIG);
    for (CloseReason reason : CloseReason.values()) {
      assertThat(counters.closes(reason)).isEqualTo(reason == CloseReason.IDLE ? 1 : 0);
    }
    assertThat(counters.closesByPeer()).isEqualTo(1);
    for (ErrorCode code : ErrorCode.values()) {
      assertThat(counters.problems(code)).isEqualTo(code == ErrorCode.TOO_BIG ? 2 : 0);
    }
  }
}
