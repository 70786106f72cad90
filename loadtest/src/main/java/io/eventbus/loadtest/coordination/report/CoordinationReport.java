package io.eventbus.loadtest.coordination.report;

import io.eventbus.loadtest.coordination.run.Experiment;
import io.eventbus.loadtest.coordination.run.Findings;
import io.eventbus.loadtest.coordination.run.FleetResult;
import io.eventbus.loadtest.coordination.run.PhaseResult;
import io.eventbus.loadtest.coordination.run.Plan;
import io.eventbus.loadtest.report.Machine;
import java.util.List;
import java.util.Map;

/**
 * Everything that one invocation found.
 *
 * @param startedAt ISO 8601, UTC
 * @param command the arguments
 * @param machine where it ran
 * @param disk what held the servers' data
 * @param systems name and version of those that were measured
 * @param absent name and reason of those that were not
 * @param plan how it was measured
 * @param phases each phase with each system
 * @param fleets what the servers held at the end, and what they cost when idle
 * @param visibilities when changes were visible on every bus
 * @param joins how long joining took
 * @param problems what did not come to its end
 */
public record CoordinationReport(
    String startedAt,
    String command,
    Machine machine,
    String disk,
    Map<String, String> systems,
    Map<String, String> absent,
    Plan plan,
    List<PhaseResult> phases,
    List<FleetResult> fleets,
    List<Findings.Visibility> visibilities,
    List<Findings.Join> joins,
    List<String> problems) {

  /**
   * Puts a report together.
   *
   * @param startedAt as above
   * @param command as above
   * @param disk as above
   * @param systems as above
   * @param absent as above
   * @param plan as above
   * @param findings of the experiments
   * @return the report
   */
  public static CoordinationReport of(
      String startedAt,
      String command,
      String disk,
      Map<String, String> systems,
      Map<String, String> absent,
      Plan plan,
      Findings findings) {
    return new CoordinationReport(
        startedAt,
        command,
        Machine.here(),
        disk,
        systems,
        absent,
        plan,
        findings.phases(),
        findings.fleets(),
        findings.visibilities(),
        findings.joins(),
        findings.problems());
  }

  /**
   * Says whether everything came to its end.
   *
   * @return true if there was no problem
   */
  public boolean complete() {
    return problems.isEmpty();
  }

  /**
   * Says whether this product's registry lost or doubled nothing.
   *
   * @return true if every acknowledged command was applied once
   */
  public boolean whole() {
    return fleets.stream()
        .filter(fleet -> fleet.system().equals(CoordinationTable.OWN))
        .allMatch(fleet -> fleet.integrity().lost() == 0 && fleet.integrity().doubled() == 0);
  }

  /** The measured phases, by experiment, without those that warm up. */
  List<Group> groups() {
    return Group.of(
        phases.stream().filter(phase -> !phase.experiment().equals(Experiment.WARM_UP)).toList());
  }
}
