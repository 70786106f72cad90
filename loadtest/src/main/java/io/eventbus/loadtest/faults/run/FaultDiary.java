package io.eventbus.loadtest.faults.run;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Diary of faults, and of how long each bus took to be back. For one thread. */
final class FaultDiary {
  private final LongSupplier clock;
  private final Consumer<String> out;
  private final List<String> lines = new ArrayList<>();
  private final Map<FaultKind, Integer> counts = new EnumMap<>(FaultKind.class);
  private final Map<FaultKind, List<Long>> recoveries = new EnumMap<>(FaultKind.class);

  FaultDiary(LongSupplier clock, Consumer<String> out) {
    this.clock = clock;
    this.out = out;
  }

  void note(String text) {
    String line = String.format("%8.3f s  %s", clock.getAsLong() / 1e9, text);
    lines.add(line);
    out.accept(line);
  }

  void count(FaultKind kind) {
    counts.merge(kind, 1, Integer::sum);
  }

  void recovered(FaultKind kind, long millis) {
    recoveries.computeIfAbsent(kind, k -> new ArrayList<>()).add(millis);
  }

  List<String> lines() {
    return List.copyOf(lines);
  }

  Map<FaultKind, Integer> counts() {
    return counts;
  }

  Map<FaultKind, List<Long>> recoveries() {
    return recoveries;
  }
}
