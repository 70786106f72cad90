package io.eventbus.conformance.scenario;

/** Thrown if a library violates a scenario; the message has expectation and observation. */
public final class ScenarioFailure extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates a failure. */
  public ScenarioFailure(String message) {
    super(message);
  }
}
