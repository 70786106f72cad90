package io.eventbus.registry.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Election of a leader with a change of the members in its log that the one before did not end. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "signals and one clock for all processes")
@Tag("faults")
@Timeout(180)
class CutShortChangeIT {
  private final Path directory;
  private final Recorder recorder = new Recorder();

  CutShortChangeIT(@TempDir Path directory) {
    this.directory = directory;
  }

  private static String word(Bus bus, String request, int index) {
    Answer answer = Cluster.askQuietly(bus, request);
    return answer == null ? "" : answer.word(index);
  }

  @Test
  void theBusThatWasTakenOutByItIsAdmittedAgain() throws Exception {
    Cluster.Plan plan =
        new Cluster.Plan(3, 3, 600_000, 1_500, 20_000, 32_768, false, Cluster.Plan.SMALL);
    try (Cluster cluster = Cluster.create(plan, directory, new Random(), recorder)) {
      cluster.start();
      Bus leader = cluster.awaitLeader();
      List<Bus> others = cluster.buses().stream().filter(b -> b != leader).toList();
      Bus stays = others.get(0);
      Bus goes = others.get(1);
      goes.kill();
      Cluster.until(
          goes.name() + " is DOWN", () -> word(leader, "state " + goes.name(), 1).equals("DOWN"));

      // Without a majority the change gets no further than the leader's own log.
      stays.pause();
      var removal = leader.ask("remove " + goes.name() + " 20000");
      Cluster.until("nobody leads", () -> !word(leader, "status", 2).equals("LEADER"));
      assertThat(word(leader, "status", 5))
          .as("a change of members is under way")
          .isEqualTo("true");
      stays.resume();
      Cluster.until("one leads", () -> cluster.leader() != null);

      goes.start();
      goes.awaitStarted(Duration.ofSeconds(30));
      Cluster.until(
          goes.name() + " is UP", () -> word(leader, "state " + goes.name(), 1).equals("UP"));
      removal.cancel(true);
    }
    assertThat(recorder.findings()).isEmpty();
  }
}
