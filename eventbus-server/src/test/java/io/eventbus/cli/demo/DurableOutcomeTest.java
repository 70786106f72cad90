package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.demo.DemoTally.Verdict;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DurableOutcomeTest {
  private static final Verdict GOOD = new Verdict(5, 5, 0, 0, 0, 0);

  @Test
  void aCorrectOutcomeHasNoErrors() {
    DurableOutcome outcome = new DurableOutcome(List.of(GOOD), Map.of("bus-1", 0), 0);
    assertThat(outcome.wrong()).isEmpty();
    assertThat(outcome.summary()).endsWith("at the positions that the publishers were told.");
  }

  @Test
  void positionsThatNobodyWasToldAreNoErrorAndNamed() {
    DurableOutcome outcome = new DurableOutcome(List.of(GOOD), Map.of("bus-1", 0), 7);
    assertThat(outcome.wrong()).isEmpty();
    assertThat(outcome.summary())
        .endsWith(", but 7 of which they were not told, as they sent them again.");
  }

  @Test
  void aReaderThatMissedAnEventIsAnError() {
    DurableOutcome outcome =
        new DurableOutcome(List.of(GOOD, new Verdict(5, 4, 1, 0, 0, 0)), Map.of("bus-1", 0), 0);
    assertThat(outcome.wrong()).hasSize(1);
    assertThat(outcome.wrong().get(0)).startsWith("1 of 2 subscribers").contains("1 missing");
  }

  @Test
  void aLogThatDiffersIsAnError() {
    DurableOutcome outcome = new DurableOutcome(List.of(GOOD), Map.of("bus-1", 0, "bus-2", 3), 0);
    assertThat(outcome.wrong()).hasSize(1);
    assertThat(outcome.wrong().get(0))
        .startsWith("the log of bus-2 has 3 events at other positions");
  }
}
