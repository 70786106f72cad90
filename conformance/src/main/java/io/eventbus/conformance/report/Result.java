package io.eventbus.conformance.report;

import io.eventbus.conformance.run.Outcome;
import io.eventbus.conformance.run.Outcome.Verdict;
import java.util.List;

/** A whole run. */
public record Result(String agent, List<Outcome> outcomes, KnownFailures known) {
  /** Copies the list. */
  public Result {
    outcomes = List.copyOf(outcomes);
  }

  /** Says whether an outcome is what it has to be. */
  public boolean isFine(Outcome outcome) {
    return known.has(outcome.scenario().id())
        ? outcome.verdict() == Verdict.FAILED
        : outcome.verdict() != Verdict.FAILED;
  }

  /**
   * Says whether all is as it has to be.
   *
   * @return true if every outcome is
   */
  public boolean isFine() {
    return outcomes.stream().allMatch(this::isFine);
  }

  /** Counts. */
  public long count(Verdict verdict) {
    return outcomes.stream().filter(outcome -> outcome.verdict() == verdict).count();
  }

  /** Says what there is to say of an outcome. */
  public String word(Outcome outcome) {
    boolean listed = known.has(outcome.scenario().id());
    return switch (outcome.verdict()) {
      case PASSED -> listed ? "PASSES" : "ok";
      case LEFT_OUT -> listed ? "LEFT OUT" : "left out";
      case FAILED -> listed ? "known" : "FAILED";
    };
  }

  /** Sums up. */
  public String summary() {
    long wrong = outcomes.stream().filter(outcome -> !isFine(outcome)).count();
    return count(Verdict.PASSED)
        + " passed, "
        + count(Verdict.FAILED)
        + " failed, "
        + count(Verdict.LEFT_OUT)
        + " left out; "
        + (wrong == 0 ? "as it has to be" : wrong + " not as they have to be");
  }
}
