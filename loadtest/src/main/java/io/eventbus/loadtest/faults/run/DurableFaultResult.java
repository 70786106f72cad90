package io.eventbus.loadtest.faults.run;

import io.eventbus.loadtest.faults.history.HistoryVerdict;
import java.util.List;
import java.util.Map;

/**
 * Result of a run.
 *
 * @param figures of the run, by name
 * @param recoveries milliseconds from the start of buses until they took clients, for each fault
 * @param gaps times without a confirmation around the faults
 * @param problems what did not come to its end, such as a bus that did not start again
 * @param diary of the faults
 */
public record DurableFaultResult(
    Map<String, Long> figures,
    Map<FaultKind, Integer> faults,
    Map<FaultKind, List<Long>> recoveries,
    FaultGaps gaps,
    HistoryVerdict verdict,
    List<String> problems,
    List<String> diary) {
  /** Returns whether every promise was kept. */
  public boolean isGood() {
    return verdict.isGood() && problems.isEmpty();
  }
}
