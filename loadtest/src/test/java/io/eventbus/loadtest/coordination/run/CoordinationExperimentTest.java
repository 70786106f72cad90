package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class CoordinationExperimentTest {
  private static final Duration MOMENT = Duration.ofMillis(100);

  private final MemorySystem first = new MemorySystem("first");
  private final MemorySystem second = new MemorySystem("second");
  private final Findings findings = new Findings();

  private CoordinationExperiment experiment() {
    Plan plan =
        new Plan(
            List.of(1), List.of(2), 20, MOMENT, MOMENT, 2, 2, 2, MOMENT, 1, 1, Duration.ZERO, null);
    return new CoordinationExperiment(
        List.of(first, second), plan, Path.of("nowhere"), line -> {}, findings);
  }

  @Test
  void everySystemIsMeasuredAndChecked() throws Exception {
    experiment().table();
    assertThat(findings.problems()).isEmpty();
    assertThat(findings.fleets()).hasSize(2).allMatch(fleet -> fleet.integrity().whole());
    assertThat(findings.phases()).hasSize(6);
    assertThat(first.closed && second.closed).isTrue();
  }

  @Test
  void oneThatFailsIsLeftOutAndCheckedAllTheSame() throws Exception {
    first.client.dieAt = 5;
    experiment().table();
    assertThat(findings.problems()).singleElement().asString().contains("a fault", "first");
    assertThat(findings.fleets())
        .extracting(FleetResult::system)
        .containsExactly("first", "second");
    assertThat(findings.phases()).extracting(PhaseResult::system).containsOnly("second");
    assertThat(first.closed && second.closed).isTrue();
  }

  @Test
  void transactionsAreChecked() throws Exception {
    experiment().transactions();
    assertThat(findings.problems()).isEmpty();
    assertThat(findings.fleets())
        .allMatch(fleet -> fleet.integrity().acknowledged() > 0 && fleet.integrity().whole());
  }

  @Test
  void onlySystemsThatTellAreStartedForVisibility() throws Exception {
    experiment().visibility();
    assertThat(first.closed || second.closed).isFalse();
    assertThat(findings.problems()).isEmpty();
  }
}
