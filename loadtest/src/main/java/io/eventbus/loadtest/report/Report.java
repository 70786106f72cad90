package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.workload.Workload;
import java.util.ArrayList;
import java.util.List;

/**
 * Everything that one invocation of the load test found.
 *
 * @param command as it was typed; empty if it is not known
 * @param machine where it ran
 * @param planned how many runs were to be made; more than there are results while it goes on, or if
 *     it was stopped
 * @param absent systems that could not be measured, and why
 */
public record Report(
    String startedAt,
    String command,
    Machine machine,
    int planned,
    List<AbsentDriver> absent,
    List<Workload> workloads,
    List<RunResult> results) {
  /** Takes copies of the lists. */
  public Report {
    planned = Math.max(planned, results.size());
    absent = List.copyOf(absent);
    workloads = List.copyOf(workloads);
    results = List.copyOf(results);
  }

  /** A system that could not be measured. */
  public record AbsentDriver(String driver, String reason) {}

  /** Sums up the runs of each workload and driver. */
  public List<Summary> summaries() {
    List<Summary> summaries = new ArrayList<>();
    for (Workload workload : workloads) {
      List<RunResult> of =
          results.stream().filter(r -> r.workload().equals(workload.name())).toList();
      for (String driver : of.stream().map(RunResult::driver).distinct().toList()) {
        summaries.add(Summary.of(of.stream().filter(r -> r.driver().equals(driver)).toList()));
      }
    }
    return summaries;
  }

  /** Names the systems that were measured, each with its version. */
  public List<String> systems() {
    return results.stream()
        .map(result -> result.driver() + " " + result.version())
        .distinct()
        .toList();
  }

  /**
   * Compares what was measured with what the event bus is to reach.
   *
   * @return a line for each target, also for those of which something was not measured
   */
  public List<SpeedTarget> targets() {
    List<SpeedTarget> moves = MoveTable.targets(this);
    return moves.isEmpty() ? SpeedTargets.of(this) : moves;
  }

  /** Returns whether a workload is an experiment with clients that move. */
  boolean hasMoves(String workload) {
    return results.stream().anyMatch(r -> r.workload().equals(workload) && r.moves() != null);
  }

  /** Returns whether a workload is one of registers. */
  boolean hasRegisters(String workload) {
    return workloads.stream().anyMatch(w -> w.name().equals(workload) && w.registers() != null);
  }

  /** Returns whether a workload is one with a durable topic. */
  boolean hasDurable(String workload) {
    return workloads.stream().anyMatch(w -> w.name().equals(workload) && w.durable() != null);
  }

  /** Returns whether a workload is one of calls. */
  boolean hasCalls(String workload) {
    return workloads.stream().anyMatch(w -> w.name().equals(workload) && w.calls() > 0);
  }

  /**
   * Returns what is missing.
   *
   * @return a sentence; empty if every run was made
   */
  String unfinished() {
    return results.size() == planned
        ? ""
        : "Not finished: " + results.size() + " of " + planned + " runs.";
  }

  /**
   * Returns whether no run lost, doubled or reordered anything.
   *
   * @return true if every event is accounted for
   */
  public boolean whole() {
    return results.stream().allMatch(result -> result.integrity().whole());
  }

  /**
   * Returns whether every run was made and came to its end.
   *
   * @return true if none is missing or has a problem
   */
  public boolean complete() {
    return results.size() == planned
        && results.stream().allMatch(result -> result.problem() == null);
  }
}
