package io.eventbus.conformance.run;

import io.eventbus.conformance.scenario.Scenario;
import java.time.Duration;
import java.util.List;

/**
 * What became of a scenario.
 *
 * @param verdict passed or not
 * @param message why not; what it needs, if it was left out
 * @param transcript the last that came and went, if it failed
 */
public record Outcome(
    Scenario scenario, Verdict verdict, String message, List<String> transcript, Duration took) {
  /** Verdicts. */
  public enum Verdict {
    /** The library did what is wanted. */
    PASSED,
    /** It did not. */
    FAILED,
    /** The library does not declare a capability that the scenario needs. */
    LEFT_OUT
  }

  /** Copies the list. */
  public Outcome {
    transcript = List.copyOf(transcript);
  }
}
