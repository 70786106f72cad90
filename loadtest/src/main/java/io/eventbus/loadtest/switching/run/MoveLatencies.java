package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.run.LatencySummary;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Latencies of all subscribers, by what was going on when an event arrived. Any thread. */
final class MoveLatencies {
  private static final int DIGITS = 3;

  /** Phases of an experiment. */
  enum Phase {
    /** Nothing that counts. */
    NONE,
    /** Events flow and nobody moves. */
    BEFORE,
    /** Clients are on their way. */
    DURING,
    /** All have arrived. */
    AFTER
  }

  private final Map<Phase, Histogram> histograms =
      Arrays.stream(Phase.values())
          .collect(Collectors.toUnmodifiableMap(p -> p, p -> new ConcurrentHistogram(DIGITS)));
  private volatile Phase phase = Phase.NONE;

  void enter(Phase next) {
    phase = next;
  }

  void record(long nanos) {
    of(phase).recordValue(Math.max(0, nanos));
  }

  LatencySummary summary(Phase of) {
    return LatencySummary.of(of(of));
  }

  private Histogram of(Phase of) {
    return Objects.requireNonNull(histograms.get(of));
  }
}
