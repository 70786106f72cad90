package io.eventbus.loadtest.faults.run;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Diary of faults, of their times, and of how long each bus took to be back. For one thread. */
final class FaultDiary {
  private final LongSupplier clock;
  private final Consumer<String> out;
  private final List<String> lines = new ArrayList<>();
  private final Map<FaultKind, Integer> counts = new EnumMap<>(FaultKind.class);
  private final Map<FaultKind, List<Long>> recoveries = new EnumMap<>(FaultKind.class);

  /** Buses of the fault that is about to be counted, and the time before it. */
  private final List<String> victims = new ArrayList<>();

  private long begin;
  private final List<OpenFault> open = new ArrayList<>();
  private final List<FaultWindow> windows = new ArrayList<>();

  /** Fault that has not ended, or whose buses do not take clients yet. */
  private record OpenFault(FaultKind kind, List<String> buses, long begin) {}

  FaultDiary(LongSupplier clock, Consumer<String> out) {
    this.clock = clock;
    this.out = out;
  }

  void note(String text) {
    String line = String.format("%8.3f s  %s", clock.getAsLong() / 1e9, text);
    lines.add(line);
    out.accept(line);
  }

  /** Notes that a fault is about to happen to a bus. */
  void begins(FaultKind kind, String bus) {
    begins(kind, bus, "");
  }

  /**
   * Notes that a fault is about to happen to a bus.
   *
   * @param how it happens; may be empty
   */
  void begins(FaultKind kind, String bus, String how) {
    if (victims.isEmpty()) {
      begin = clock.getAsLong();
    }
    victims.add(bus);
    note(kind + ": " + bus + (how.isEmpty() ? "" : ", " + how));
  }

  /** Counts a fault that has happened, unless its victim was away already. */
  void inflicted(FaultKind kind) {
    if (!victims.isEmpty()) {
      counts.merge(kind, 1, Integer::sum);
      open.add(new OpenFault(kind, List.copyOf(victims), begin));
      victims.clear();
    }
  }

  /** Ends all faults, because all buses take clients again. */
  void allEnded() {
    long end = clock.getAsLong();
    boolean alone = open.size() == 1;
    open.forEach(
        fault ->
            windows.add(new FaultWindow(fault.kind(), fault.buses(), fault.begin(), end, alone)));
    open.clear();
  }

  void recovered(FaultKind kind, long millis) {
    recoveries.computeIfAbsent(kind, k -> new ArrayList<>()).add(millis);
  }

  /** Returns the times of the faults that have ended. */
  List<FaultWindow> windows() {
    return List.copyOf(windows);
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
