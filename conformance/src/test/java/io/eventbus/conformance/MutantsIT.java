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

/** The judge is judged: each scenario notices the faults that are planted for it. */
class MutantsIT {
  private static final int SEATS = 12;

  private record Planted(Scenario scenario, Mutant mutant) {}

  @Test
  void everyScenarioHasAFault() {
    assertThat(ScenarioFiles.all())
        .allSatisfy(scenario -> assertThat(scenario.mutants()).as(scenario.id()).isNotEmpty());
  }

  @Test
  void theScriptedBusNoticesEveryFault() throws Exception {
    assertThat(missed(2)).isEmpty();
  }

  @Test
  @Tag("nightly")
  void liveBusesNoticeEveryFault() throws Exception {
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
    // What a fault leaves out never comes, so that the time to wait for it is the test's time.
    try (Suite suite = new Suite(JavaTestee::start, Duration.ofSeconds(4))) {
      // The first connection of a JVM loads thousands of classes, which is not what is waited for.
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
        // Nobody can notice a fault of what the library does not have.
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
