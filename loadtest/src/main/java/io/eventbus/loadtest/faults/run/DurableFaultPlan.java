package io.eventbus.loadtest.faults.run;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a run.
 *
 * @param jar of the buses; null for those on the class path
 * @param length of the time with faults
 * @param rate events a second of all publishers, about
 * @param directory for data and logs
 */
public record DurableFaultPlan(
    int buses,
    List<FaultKind> kinds,
    long seed,
    Duration length,
    int rate,
    @Nullable Path jar,
    List<String> jvmOptions,
    Path directory) {
  private static final int MAX_RATE = 20_000;

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if one is out of range, naming the option
   */
  public DurableFaultPlan {
    kinds = List.copyOf(kinds);
    jvmOptions = List.copyOf(jvmOptions);
    if (buses != 1 && buses != 3) {
      throw new IllegalArgumentException("--replicas: " + buses + " (expected: 1 or 3)");
    }
    if (kinds.isEmpty()) {
      throw new IllegalArgumentException("--faults: none (expected: at least one)");
    }
    for (FaultKind kind : kinds) {
      boolean others =
          kind.need() == FaultKind.Need.OTHERS || kind.need() == FaultKind.Need.NETWORK;
      if (others && buses == 1) {
        throw new IllegalArgumentException("--faults: " + kind + " (expected: --replicas 3)");
      }
    }
    if (rate < 1 || rate > MAX_RATE) {
      throw new IllegalArgumentException("--rate: " + rate + " (expected: 1.." + MAX_RATE + ")");
    }
  }

  /** Returns whether one of the faults has a condition. */
  public boolean needs(FaultKind.Need need) {
    return kinds.stream().anyMatch(kind -> kind.need() == need);
  }
}
