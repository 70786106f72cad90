package io.eventbus.registry.faults;

import io.eventbus.registry.history.HistoryCheck;
import io.eventbus.registry.history.Operation;
import io.eventbus.registry.history.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Result of a {@link FaultRun}. */
record Report(
    long seed,
    Cluster.Plan plan,
    String network,
    Map<Nemesis.Fault, Integer> faults,
    List<Operation> operations,
    HistoryCheck check,
    Recorder recorder,
    Acknowledged acknowledged,
    List<Long> delays,
    List<String> findings,
    List<String> diary) {

  static final String HEADER =
      "| seed | buses/voters | replace | lease | snapshot | memory | faults | operations | answered"
          + " | unknown | repeated | topics | visible p50/p99/max ms | findings |\n"
          + "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

  /** Returns one row of a table. */
  String row() {
    return String.format(
        "| %d | %d/%d | %s s | %.1f s | %d | %d | %d | %d | %d | %d | %d | %d | %s | %d |",
        seed,
        plan.buses(),
        plan.voters(),
        plan.replaceVoterAfterMillis() / 1_000,
        plan.leaseMillis() / 1_000.0,
        plan.snapshotEntries(),
        plan.rememberedCommands(),
        faults.values().stream().mapToInt(Integer::intValue).sum(),
        operations.size(),
        acknowledged.size(),
        operations.stream().filter(o -> o.outcome() instanceof Outcome.Unknown).count(),
        acknowledged.repeated(),
        check.topics(),
        percentiles(delays),
        findings.size());
  }

  /**
   * Returns the median, the 99th percentile and the greatest of sorted nanoseconds, in
   * milliseconds.
   */
  static String percentiles(List<Long> sorted) {
    if (sorted.isEmpty()) {
      return "-";
    }
    return String.format(
        "%.1f/%.1f/%.1f",
        sorted.get((sorted.size() - 1) / 2) / 1e6,
        sorted.get((int) Math.ceil(0.99 * sorted.size()) - 1) / 1e6,
        sorted.get(sorted.size() - 1) / 1e6);
  }

  /** Describes everything, for people. */
  String describe() {
    return "seed "
        + seed
        + ": "
        + plan
        + "\nnetwork: "
        + network
        + "\nfaults: "
        + new TreeMap<>(faults)
        + "\nsteps of the search: "
        + check.steps()
        + ", given up: "
        + check.undecided()
        + "\nlives of buses: "
        + recorder.lives()
        + ", versions compared between buses: "
        + recorder.versionsCompared()
        + ", buses that ended with their engines and were started again: "
        + recorder.endedByThemselves()
        + ", repetitions that came too late: "
        + acknowledged.forgotten()
        + "\n"
        + HEADER
        + "\n"
        + row()
        + "\n"
        + findings.size()
        + " findings"
        + (findings.isEmpty()
            ? "\n"
            : ":\n" + String.join("\n", findings.subList(0, Math.min(20, findings.size()))) + "\n")
        + "diary:\n"
        + String.join("\n", diary)
        + "\n";
  }

  void write(Path file) throws IOException {
    Files.writeString(file, describe());
  }
}
