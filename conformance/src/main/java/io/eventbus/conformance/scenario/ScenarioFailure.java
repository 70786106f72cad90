package io.eventbus.conformance.scenario;

/** A library did not do what a scenario wants; the message says what was expected and seen. */
public final class ScenarioFailure extends Exception {
  private static final long serialVersionUID = 1L;

  /** Makes one. */
  public ScenarioFailure(String message) {
    super(message);
  }
}
