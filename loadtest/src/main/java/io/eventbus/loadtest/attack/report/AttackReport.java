package io.eventbus.loadtest.attack.report;

import io.eventbus.loadtest.attack.run.AttackResult;
import io.eventbus.loadtest.attack.run.BusSpec;
import io.eventbus.loadtest.report.Machine;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Everything that one command found, for a JSON file.
 *
 * @param machine where
 */
public record AttackReport(
    String startedAt,
    Machine machine,
    String command,
    String bus,
    List<AttackResult> results,
    Map<String, List<String>> missed) {
  /** Takes copies. */
  public AttackReport {
    results = List.copyOf(results);
    missed = Map.copyOf(missed);
  }

  /** Puts a report together. */
  public static AttackReport of(
      String startedAt, String command, BusSpec spec, List<AttackResult> results) {
    Map<String, List<String>> missed = new TreeMap<>();
    for (AttackResult result : results) {
      List<String> found = AttackVerdict.missed(result);
      if (!found.isEmpty()) {
        missed.put(result.attack() + "/" + result.round(), found);
      }
    }
    return new AttackReport(
        startedAt,
        Machine.here(),
        command,
        spec.jar() + " -Xmx" + spec.heap() + " " + spec.settings() + " on " + spec.javaHome(),
        results,
        missed);
  }
}
