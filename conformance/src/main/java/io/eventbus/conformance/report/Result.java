package io.eventbus.conformance.report;

import io.eventbus.conformance.run.Outcome;
import io.eventbus.conformance.run.Outcome.Verdict;
import java.util.List;

/** Result of a run. */
public record Result(String agent, List<Outcome> outcomes, KnownFailures known) {
  /** Copies the list. */
  public Result {
    outcomes = List.copyOf(outcomes);
  }

  /** Returns whether an outcome is as expected. */
  public boolean isExpected(Outcome outcome) {
    return known.has(outcome.scenario().id())
        ? outcome.verdict() == Verdict.FAILED
        : outcome.verdict() != Verdict.FAILED;
  }

  /**
   * Returns whether all outcomes are as expected.
   *
   * @return true if every outcome is
   */
  public boolean isExpected() {
    return outcomes.stream().allMatch(this::isExpected);
  }

  /** Returns the number of outcomes with a verdict. */
  public long count(Verdict verdict) {
    return outcomes.stream().filter(outcome -> outcome.verdict() == verdict).count();
  }

  /** Returns the text of an outcome. */
  public String text(Outcome outcome) {
    boolean listed = known.has(outcome.scenario().id());
    return switch (outcome.verdict()) {
      case PASSED -> listed ? "PASSES" : "ok";
      case LEFT_OUT -> listed ? "LEFT OUT" : "left out";
      case FAILED -> listed ? "known" : "FAILED";
    };
  }

  /** Returns a summary. */
  public String summary() {
    long wrong = outcomes.stream().filter(outcome -> !isExpected(outcome)).count();
    return count(Verdict.PASSED)
        + " passed, "
        + count(Verdict.FAILED)
        + " failed, "
        + count(Verdict.LEFT_OUT)
        + " left out; "
        + (wrong == 0 ? "as it has to be" : wrong + " not as they have to be");
  }
}
