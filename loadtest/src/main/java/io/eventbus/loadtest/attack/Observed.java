package io.eventbus.loadtest.attack;

import java.util.List;
import java.util.Map;

/**
 * Observations of the attackers.
 *
 * @param error what ended the attack early, empty for nothing
 */
public record Observed(
    Map<String, Long> figures, Map<Integer, Long> closes, List<Check> checks, String error) {
  /** Takes copies. */
  public Observed {
    figures = Map.copyOf(figures);
    closes = Map.copyOf(closes);
    checks = List.copyOf(checks);
  }

  /** Makes what is known of attackers that did not report. */
  public static Observed failed(String error) {
    return new Observed(Map.of(), Map.of(), List.of(), error);
  }
}
