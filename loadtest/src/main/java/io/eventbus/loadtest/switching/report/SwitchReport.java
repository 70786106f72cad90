package io.eventbus.loadtest.switching.report;

import io.eventbus.loadtest.report.Machine;
import io.eventbus.loadtest.report.SpeedTarget;
import io.eventbus.loadtest.switching.run.SwitchPlan;
import io.eventbus.loadtest.switching.run.SwitchResult;
import java.util.List;

/**
 * Everything that one invocation found about clients that change the bus.
 *
 * @param machine where it ran
 */
public record SwitchReport(
    String startedAt,
    Machine machine,
    String command,
    String version,
    SwitchPlan plan,
    List<SwitchResult> results) {
  /** Takes a copy of the results. */
  public SwitchReport {
    results = List.copyOf(results);
  }

  /** Compares with what is to be reached. */
  public List<SpeedTarget> targets() {
    return SwitchTargets.of(results);
  }

  /**
   * Says whether no event was lost that may not be, and none doubled, reordered or foreign.
   *
   * @return true if so in every experiment
   */
  public boolean whole() {
    return results.stream().allMatch(result -> result.integrity().whole());
  }

  /**
   * Says whether every experiment came to its end.
   *
   * @return false if one has a problem
   */
  public boolean complete() {
    return results.stream().allMatch(result -> result.problem() == null);
  }
}
