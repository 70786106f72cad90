package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Everything that one invocation of the load test found.
 *
 * @param startedAt ISO 8601, UTC
 * @param machine where it ran
 * @param absent systems that could not be measured, and why
 * @param workloads what was to be done
 * @param results one for each run, in the order in which they ran
 */
public record Report(
    String startedAt,
    Machine machine,
    List<AbsentDriver> absent,
    List<Workload> workloads,
    List<RunResult> results) {
  /** Takes copies of the lists. */
  public Report {
    absent = List.copyOf(absent);
    workloads = List.copyOf(workloads);
    results = List.copyOf(results);
  }

  /**
   * A system that could not be measured.
   *
   * @param driver its name
   * @param reason what is missing and how to get it
   */
  public record AbsentDriver(String driver, String reason) {}

  /**
   * Sums up the runs of each workload and driver.
   *
   * @return in the order of the workloads and, in each, of the first runs of the drivers
   */
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

  /**
   * Names the systems that were measured.
   *
   * @return name and version of each
   */
  public String systems() {
    return results.stream()
        .map(result -> result.driver() + " " + result.version())
        .distinct()
        .collect(Collectors.joining(", "));
  }

  /**
   * Compares what was measured with what the event bus is to reach.
   *
   * @return a line for each target, also for those of which something was not measured
   */
  public List<Target> targets() {
    return Targets.of(this);
  }

  /**
   * Says whether no run lost, doubled or reordered anything.
   *
   * @return true if every event is accounted for
   */
  public boolean whole() {
    return results.stream().allMatch(result -> result.integrity().whole());
  }

  /**
   * Says whether every run came to its end.
   *
   * @return true if none has a problem
   */
  public boolean complete() {
    return results.stream().allMatch(result -> result.problem() == null);
  }
}
