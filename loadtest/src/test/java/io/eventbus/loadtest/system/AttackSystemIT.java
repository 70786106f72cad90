package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.Nightly;
import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.hostile.Attacks;
import io.eventbus.loadtest.attack.report.AttackTable;
import io.eventbus.loadtest.attack.report.AttackVerdict;
import io.eventbus.loadtest.attack.run.AttackExperiment;
import io.eventbus.loadtest.attack.run.AttackPlan;
import io.eventbus.loadtest.attack.run.AttackResult;
import io.eventbus.loadtest.attack.run.BusSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every attack for a short time against the packaged bus with a small heap. How long events take is
 * not judged here, because that depends on the machine: nobody honest may lose anything, the bus
 * has to live, and its memory has to come back.
 */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
@Nightly
class AttackSystemIT {
  private static final String HEAP = "256m";
  private static final List<String> SPEED =
      List.of(
          "p50 ",
          "p99 ",
          "max ",
          "calls p50 ",
          "calls max ",
          "healthz ",
          "large pair ",
          "not so: guesses ");

  static Stream<String> attacks() {
    return Attacks.all().stream().map(Attack::name);
  }

  private static AttackResult play(String name, int seconds) throws Exception {
    Attack attack =
        Attacks.all().stream().filter(a -> a.name().equals(name)).findFirst().orElseThrow();
    BusSpec bus =
        new BusSpec(
            Path.of("..", "eventbus-server", "target", "eventbus.jar"),
            Path.of(System.getProperty("java.home")),
            HEAP,
            Map.of());
    return new AttackExperiment(attack, bus, new AttackPlan(2, 1, seconds, 1, 0, Map.of())).play(1);
  }

  @Test
  void pairsAloneLoseNothing() throws Exception {
    AttackResult result = play("none", 1);
    assertThat(result.bus().alive()).as(AttackTable.of(List.of(result))).isTrue();
    assertThat(result.honest().events().sent()).isPositive();
    assertThat(result.honest().events().lost()).isZero();
    assertThat(result.honest().calls().answered()).isPositive();
    assertThat(result.honest().calls().lost()).isZero();
    assertThat(result.honest().control().attack().count()).isPositive();
    assertThat(result.honest().attack().count()).isPositive();
    assertThat(result.memory().heapAfter()).isPositive();
    assertThat(result.memory().countedAfter()).isNotNegative();
    assertThat(result.observed().error()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("attacks")
  void theHonestDoNotSuffer(String name) throws Exception {
    AttackResult result = play(name, 5);
    assertThat(missed(result)).as(AttackTable.of(List.of(result))).isEmpty();
  }

  /** Returns what was missed and no slow machine explains. */
  private static List<String> missed(AttackResult result) {
    return AttackVerdict.missed(result).stream()
        .filter(missed -> SPEED.stream().noneMatch(missed::startsWith))
        .toList();
  }
}
