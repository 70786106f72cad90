package io.eventbus.loadtest.attack.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.attack.AttackTargets;
import io.eventbus.loadtest.attack.Check;
import io.eventbus.loadtest.attack.Observed;
import io.eventbus.loadtest.attack.honest.CallOutcome;
import io.eventbus.loadtest.attack.honest.HonestOutcome;
import io.eventbus.loadtest.attack.honest.Latency;
import io.eventbus.loadtest.attack.honest.PairOutcome;
import io.eventbus.loadtest.attack.honest.Timings;
import io.eventbus.loadtest.attack.run.AttackResult;
import io.eventbus.loadtest.attack.run.BusEnd;
import io.eventbus.loadtest.attack.run.Health;
import io.eventbus.loadtest.attack.run.Memory;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AttackVerdictTest {
  private static final long MB = 1 << 20;

  private BusEnd bus = new BusEnd(true, -1, 20, 4, 0, 0, "");
  private PairOutcome events = new PairOutcome(100, 100, 100, 0, 0, 0, 0, List.of());
  private Latency attack = new Latency(100, 5, 20, 250);
  private Latency after = new Latency(100, 1, 2, 3);
  private CallOutcome calls = new CallOutcome(100, 100, 0, 0, Map.of(), List.of());
  private Latency callAttack = new Latency(100, 5, 20, 250);
  private Latency control = new Latency(100, 0, 0, 0);
  private Latency durableAttack = new Latency(0, 6, 20, 250);
  private double bulkAttack = 20e6;
  private Health health = new Health(100, 50, 0);
  private Memory memory = new Memory(10 * MB, 35 * MB, 0, MB, 200 * MB);
  private AttackTargets targets = new AttackTargets(250, Integer.MAX_VALUE, false, 0);
  private Observed observed = new Observed(Map.of(), Map.of(), List.of(), "");

  private AttackResult result() {
    Latency quiet = new Latency(100, 1, 2, 0);
    return new AttackResult(
        "some",
        1,
        Map.of(),
        10,
        targets,
        bus,
        new HonestOutcome(
            events,
            quiet,
            attack,
            after,
            new Timings(quiet, durableAttack, quiet),
            20e6,
            bulkAttack,
            calls,
            new Timings(quiet, callAttack, quiet),
            new Timings(quiet, control, quiet)),
        health,
        health,
        memory,
        observed);
  }

  private List<String> missed() {
    return AttackVerdict.missed(result());
  }

  @Test
  void everyTargetCanJustBeMet() {
    assertThat(missed()).isEmpty();
    assertThat(AttackTable.line(result())).isEqualTo("some                   met");
  }

  @Test
  void eventsOfDurableTopicsHaveTheSameTargets() {
    durableAttack = new Latency(100, 6.1, 20, 251);
    assertThat(missed()).containsExactly("durable p50 6.1 ms > 6.0", "durable max 251 ms > 250");
  }

  @Test
  void journalsKeepTheirCache() {
    durableAttack = new Latency(100, 6, 20, 250);
    memory = new Memory(10 * MB, 51 * MB, 0, MB, 200 * MB);
    assertThat(missed()).isEmpty();
    memory = new Memory(10 * MB, 52 * MB, 0, MB, 200 * MB);
    assertThat(missed()).containsExactly("heap 52 MB after, 10 before");
  }

  @Test
  void aProcessThatEndedIsNotAskedForMore() {
    bus = new BusEnd(false, 3, 2.5, -1, 0, 0, "");
    attack = new Latency(100, 500, 500, 5_000);
    memory = new Memory(10 * MB, -1, 0, -1, 200 * MB);
    assertThat(missed()).containsExactly("the bus ended with 3 after 2.5 s");
  }

  @Test
  void eventsAreCountedOneByOne() {
    events = new PairOutcome(100, 100, 99, 1, 0, 0, 0, List.of("subscriber 4001"));
    assertThat(missed())
        .containsExactly("lost 1, doubled 0, reordered 0, foreign 0", "honest: subscriber 4001");
    events = new PairOutcome(100, 100, 100, 0, 0, 2, 0, List.of());
    assertThat(missed()).containsExactly("lost 0, doubled 0, reordered 2, foreign 0");
  }

  @Test
  void medianAndLongestAreJudged() {
    attack = new Latency(100, 5.2, 20, 251);
    assertThat(missed()).containsExactly("p50 5.2 ms > 5", "max 251 ms > 250");
    targets = new AttackTargets(500, Integer.MAX_VALUE, false, 0);
    assertThat(missed()).containsExactly("p50 5.2 ms > 5");
  }

  @Test
  void callsAreJudgedAsEventsAre() {
    callAttack = new Latency(100, 5.2, 20, 251);
    assertThat(missed()).containsExactly("calls p50 5.2 ms > 5", "calls max 251 ms > 250");
    callAttack = new Latency(100, 1, 2, 3);
    calls =
        new CallOutcome(
            100, 96, 1, 2, Map.of("OVERLOADED, executed NO", 3L), List.of("caller 4001"));
    assertThat(missed())
        .containsExactly(
            "calls: lost 1, doubled 2, failed 3 {OVERLOADED, executed NO=3}",
            "honest: caller 4001");
  }

  @Test
  void whatTheMachineDoesToAControlIsNotTheBus() {
    control = new Latency(100, 1, 2, 40);
    attack = new Latency(100, 5, 20, 290);
    callAttack = new Latency(100, 5, 20, 290);
    assertThat(missed()).isEmpty();
    attack = new Latency(100, 5, 20, 291);
    assertThat(missed()).containsExactly("max 291 ms > 290");
  }

  @Test
  void ninetyNinePercentAreHeldAgainstTheQuietPhaseWhereThatIsAsked() {
    attack = new Latency(100, 1, 2.4, 250);
    targets = new AttackTargets(250, Integer.MAX_VALUE, false, 1.2);
    assertThat(missed()).isEmpty();
    attack = new Latency(100, 1, 2.5, 250);
    assertThat(missed()).containsExactly("p99 2.50 ms > 1.2 x 2.00");
  }

  @Test
  void whatIsLateAfterTheAttackIsItsDoing() {
    after = new Latency(100, 1, 2, 900);
    assertThat(missed()).containsExactly("max 900 ms > 250");
  }

  @Test
  void theLargePairHasToKeepItsPace() {
    bulkAttack = 2.3e6;
    assertThat(missed()).containsExactly("large pair 2.3 MB/s, 20.0 before");
  }

  @Test
  void healthHasToBeAnsweredInTime() {
    health = new Health(1_000, 50, 3);
    assertThat(missed()).containsExactly("healthz not 200 3 of 50", "healthz 1000 ms > 100");
  }

  @Test
  void memoryHasToComeBack() {
    memory = new Memory(10 * MB, 36 * MB, 0, MB + 1, 200 * MB);
    assertThat(missed())
        .containsExactly("counted memory 1.0 MB after", "heap 36 MB after, 10 before");
  }

  @Test
  void theLogHasToTellButNotTooMuch() {
    targets = new AttackTargets(250, 20, true, 0);
    assertThat(missed()).containsExactly("the log does not tell of it");
    bus = new BusEnd(true, -1, 20, 4, 200, 0, "");
    assertThat(missed()).isEmpty();
    bus = new BusEnd(true, -1, 20, 4, 201, 0, "");
    assertThat(missed()).containsExactly("201 log lines in 10.0 s");
  }

  @Test
  void whatTheAttackersExpectedIsPartOfIt() {
    observed =
        new Observed(
            Map.of(),
            Map.of(),
            List.of(new Check("a", true, "yes"), new Check("b", false, "c")),
            "no more sockets");
    assertThat(missed()).containsExactly("not so: b (c)", "the attack failed: no more sockets");
  }
}
