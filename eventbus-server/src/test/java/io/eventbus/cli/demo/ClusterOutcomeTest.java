package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterOutcomeTest {
  private static final DemoTally.Verdict GOOD = new DemoTally.Verdict(5, 5, 0, 0, 0, 0);

  private static ClusterOutcome outcome(
      int byOverload, boolean empty, DemoTally.Verdict... verdicts) {
    return new ClusterOutcome(List.of(verdicts), "bus-1", 0.43, byOverload, "bus-3", empty);
  }

  @Test
  void aCorrectOutcomeHasNoErrors() {
    assertThat(outcome(3, true, GOOD, GOOD).wrong()).isEmpty();
    assertThat(outcome(3, true, GOOD, GOOD).whole()).isTrue();
  }

  @Test
  void missedAndExtraEventsAreCounted() {
    ClusterOutcome outcome =
        outcome(
            3,
            true,
            GOOD,
            new DemoTally.Verdict(5, 5, 2, 1, 0, 1),
            new DemoTally.Verdict(5, 5, 0, 0, 4, 0));
    assertThat(outcome.whole()).isFalse();
    assertThat(outcome.wrong())
        .containsExactly(
            "2 of 3 subscribers did not get exactly the events that the data says, in order:"
                + " 2 missing, 1 doubled, 4 out of order, 1 wrong");
  }

  @Test
  void withoutAMoveOrWithAClientLeftItHasFailed() {
    ClusterOutcome outcome = outcome(0, false, GOOD);
    assertThat(outcome.whole()).isTrue();
    assertThat(outcome.wrong())
        .containsExactly(
            "no client was moved because of overload: the load of bus-1 was up to 43 % (expected:"
                + " more than 70 %)",
            "bus-3 was drained and still had clients");
  }
}
