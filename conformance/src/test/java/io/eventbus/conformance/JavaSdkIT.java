package io.eventbus.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.conformance.report.KnownFailures;
import io.eventbus.conformance.report.Result;
import io.eventbus.conformance.run.Outcome;
import io.eventbus.conformance.run.Outcome.Verdict;
import io.eventbus.conformance.run.Seat;
import io.eventbus.conformance.run.Suite;
import io.eventbus.conformance.run.VectorRounds;
import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.scenario.ScenarioFiles;
import io.eventbus.conformance.sdk.JavaTestee;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The Java SDK through all tiers, in this process. */
class JavaSdkIT {
  @Test
  void theJavaSdkConforms() throws Exception {
    List<Scenario> scenarios = ScenarioFiles.all();
    List<Outcome> outcomes = new ArrayList<>();
    try (Suite suite = new Suite(JavaTestee::start, Duration.ofSeconds(10))) {
      try (Seat seat = suite.seat()) {
        for (Scenario round : VectorRounds.all()) {
          outcomes.add(VectorRounds.play(round, seat));
        }
      }
      outcomes.addAll(suite.play(scenarios, 12, outcome -> {}));
    }
    KnownFailures known =
        KnownFailures.read(
            Repository.find("conformance/known-failing/java.txt"),
            Stream.concat(VectorRounds.all().stream(), scenarios.stream())
                .map(Scenario::id)
                .collect(Collectors.toSet()));
    Result result = new Result("java", outcomes, known);

    assertThat(
            outcomes.stream()
                .filter(outcome -> !result.isExpected(outcome))
                .map(outcome -> outcome.scenario().id() + ": " + outcome.message()))
        .isEmpty();
    assertThat(result.count(Verdict.PASSED)).isGreaterThan(90);
  }
}
