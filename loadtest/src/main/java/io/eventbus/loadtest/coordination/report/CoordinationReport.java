package io.eventbus.loadtest.coordination.report;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.Placement;
import io.eventbus.loadtest.coordination.run.CoordinationExperiment;
import io.eventbus.loadtest.coordination.run.Disk;
import io.eventbus.loadtest.coordination.run.Findings;
import io.eventbus.loadtest.coordination.run.FleetResult;
import io.eventbus.loadtest.coordination.run.PhaseResult;
import io.eventbus.loadtest.coordination.run.Plan;
import io.eventbus.loadtest.report.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Everything that one invocation found.
 *
 * @param machine where it ran
 * @param absent name and reason of those that were not
 * @param problems what did not come to its end
 */
public record CoordinationReport(
    String startedAt,
    String command,
    Machine machine,
    Disk disk,
    Map<String, String> systems,
    Map<String, String> absent,
    Plan plan,
    List<PhaseResult> phases,
    List<FleetResult> fleets,
    List<Findings.Visibility> visibilities,
    List<Findings.Join> joins,
    List<String> problems) {

  /** Puts a report together. */
  public static CoordinationReport of(
      String startedAt,
      String command,
      Disk disk,
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
   * Says whether this product's registry lost nothing, doubled nothing, and let nobody else write.
   *
   * @return true if every acknowledged command was applied once
   */
  public boolean whole() {
    return fleets.stream()
        .filter(fleet -> fleet.system().equals(CoordinationTable.OWN))
        .allMatch(fleet -> fleet.integrity().whole());
  }

  /** What one has to know to read the tables. */
  List<String> notes() {
    List<String> notes = new ArrayList<>();
    Placement placement = plan.placement();
    notes.add(
        placement == null
            ? "All clients talk to the server that leads; in the phases in which servers are killed"
                + " they are spread over the servers, except for what the registry's clients write."
            : placement == Placement.LEADER
                ? "All clients talk to the server that leads when they connect."
                : "Clients are spread over the servers, except for what the registry's clients"
                    + " write: that goes to the leader's process, as from a bus.");
    notes.add(
        "The registry's clients share what they have read, as those in one bus do. Late are"
            + " operations that took longer than "
            + CoordinationClient.DEADLINE.toSeconds()
            + " s, which is the longest time of one attempt in every system.");
    return notes;
  }

  /** The measured phases, by experiment, without those that warm up. */
  List<Group> groups() {
    return Group.of(
        phases.stream()
            .filter(phase -> !phase.experiment().equals(CoordinationExperiment.WARM_UP))
            .toList());
  }
}
