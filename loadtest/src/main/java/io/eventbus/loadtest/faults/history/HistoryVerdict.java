package io.eventbus.loadtest.faults.history;

import java.util.List;
import java.util.Map;

/**
 * Result of all rules for a history.
 *
 * @param counts violations of each rule that was broken; empty if none was
 * @param texts the first violations of each rule, for people
 */
public record HistoryVerdict(Map<HistoryRule, Long> counts, List<String> texts) {
  /** Copies the collections. */
  public HistoryVerdict {
    counts = Map.copyOf(counts);
    texts = List.copyOf(texts);
  }

  /** Returns whether every rule is kept. */
  public boolean isGood() {
    return counts.isEmpty();
  }

  /** Returns the number of violations. */
  public long findings() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Judges a history, in a time that grows with its length times its logarithm.
   *
   * @throws IllegalArgumentException if there is no final read, without which nothing can be judged
   */
  public static HistoryVerdict of(History history) {
    if (history.finals().isEmpty()) {
      throw new IllegalArgumentException("finals: none (expected: a final read of each bus)");
    }
    Findings findings = new Findings();
    FinalLog log = FinalLog.of(history.finals(), findings);
    PublicationRules.check(history, log, findings);
    ReadingRules.check(history, log, findings);
    ConsumptionRules.check(history, log, findings);
    WorkRules.check(history, log, findings);
    return findings.verdict();
  }
}
