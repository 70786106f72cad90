package io.eventbus.conformance.run;

import io.eventbus.conformance.scenario.Scenario;
import java.time.Duration;
import java.util.List;

/**
 * Outcome of a scenario.
 *
 * @param verdict of the judge
 * @param message reason of a failure; missing capability, if it was left out
 * @param transcript last traffic, if it failed
 */
public record Outcome(
    Scenario scenario, Verdict verdict, String message, List<String> transcript, Duration took) {
  /** Verdict about a scenario. */
  public enum Verdict {
    /** The library behaved as required. */
    PASSED,
    /** The library did not. */
    FAILED,
    /** The library does not declare a capability that the scenario needs. */
    LEFT_OUT
  }

  /** Copies the list. */
  public Outcome {
    transcript = List.copyOf(transcript);
  }
}
