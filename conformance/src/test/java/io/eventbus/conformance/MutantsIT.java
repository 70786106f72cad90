package io.eventbus.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.conformance.run.Outcome;
import io.eventbus.conformance.run.Outcome.Verdict;
import io.eventbus.conformance.run.Seat;
import io.eventbus.conformance.run.Suite;
import io.eventbus.conformance.scenario.Mutant;
import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.scenario.ScenarioFiles;
import io.eventbus.conformance.sdk.JavaTestee;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the judge: each scenario detects the faults injected for it. */
class MutantsIT {
  private static final int SEATS = 12;

  private record Planted(Scenario scenario, Mutant mutant) {}

  @Test
  void everyScenarioHasAMutant() {
    assertThat(ScenarioFiles.all())
        .allSatisfy(scenario -> assertThat(scenario.mutants()).as(scenario.id()).isNotEmpty());
  }

  @Test
  void theScriptedBusDetectsEveryFault() throws Exception {
    assertThat(missed(2)).isEmpty();
  }

  @Test
  @Tag("nightly")
  void liveBusesDetectEveryFault() throws Exception {
    assertThat(missed(3)).isEmpty();
  }

  private static List<String> missed(int tier) throws InterruptedException {
    Queue<Planted> todo = new ConcurrentLinkedQueue<>();
    for (Scenario scenario : ScenarioFiles.all()) {
      if (scenario.tier() == tier) {
        scenario.mutants().forEach(mutant -> todo.add(new Planted(scenario, mutant)));
      }
    }
    List<String> missed = Collections.synchronizedList(new ArrayList<>());
    // A dropped frame never comes, so that the timeout for it is the time of the test.
    try (Suite suite = new Suite(JavaTestee::start, Duration.ofSeconds(4))) {
      // Warms up: the first connection of a JVM loads thousands of classes, for which the timeout
      // is too short.
      suite.play(ScenarioFiles.all().subList(0, 1), 1, outcome -> {});
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < SEATS; i++) {
        Thread thread = new Thread(() -> play(suite, todo, missed), "mutants-" + i);
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    return missed;
  }

  private static void play(Suite suite, Queue<Planted> todo, List<String> missed) {
    try (Seat seat = suite.seat()) {
      for (Planted next = todo.poll(); next != null; next = todo.poll()) {
        Mutant.Active active = new Mutant.Active(next.mutant());
        Outcome outcome = seat.play(next.scenario(), active);
        // A fault in a capability that the library does not have cannot be detected.
        if (outcome.verdict() != Verdict.LEFT_OUT
            && (outcome.verdict() != Verdict.FAILED || active.changed() == 0)) {
          missed.add(
              next.scenario().id()
                  + " with "
                  + next.mutant().definition()
                  + ": "
                  + outcome.verdict()
                  + " "
                  + outcome.message()
                  + ", changed "
                  + active.changed());
        }
      }
    }
  }
}
