package io.eventbus.registry.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Result of all checks of a history.
 *
 * @param findings the errors, for people; empty if there are none
 */
public record HistoryCheck(List<String> findings, int topics, int undecided, long steps) {
  /** Maximum number of steps: more than any topic needed so far, and done within some seconds. */
  static final long MAX_STEPS = 3_000_000;

  /** Copies the list. */
  public HistoryCheck {
    findings = List.copyOf(findings);
  }

  /** Checks a history: each topic for linearizability, and all versions together. */
  public static HistoryCheck of(List<Operation> operations) {
    Map<String, List<Operation>> byTopic = new TreeMap<>();
    for (Operation operation : operations) {
      byTopic.computeIfAbsent(operation.topic(), topic -> new ArrayList<>()).add(operation);
    }
    List<String> findings = new ArrayList<>(VersionOrder.check(operations));
    int undecided = 0;
    long steps = 0;
    for (List<Operation> topic : byTopic.values()) {
      Linearizability.Result result = Linearizability.check(topic, MAX_STEPS);
      steps += result.steps();
      if (result.verdict() != Linearizability.Verdict.LINEARIZABLE) {
        findings.add(result.explanation());
      }
      if (result.verdict() == Linearizability.Verdict.UNDECIDED) {
        undecided++;
      }
    }
    return new HistoryCheck(findings, byTopic.size(), undecided, steps);
  }
}
