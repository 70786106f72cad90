package io.eventbus.registry.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Leader that was stopped and goes on: it does not know at first that there is another one. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "signals and one clock for all processes")
@Tag("faults")
@Timeout(180)
class PausedLeaderIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int ROUNDS = 3;
  private static final int READS = 20;

  private final Path directory;
  private final Recorder recorder = new Recorder();

  PausedLeaderIT(@TempDir Path directory) {
    this.directory = directory;
  }

  private static boolean applied(Bus bus, String request) {
    try {
      Answer answer = bus.ask(request, TIMEOUT);
      return answer != null && answer.kind().equals("applied");
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void answersNoReadWithWhatItHadBefore() throws Exception {
    try (Cluster cluster = Cluster.create(Cluster.Plan.of(3), directory, new Random(), recorder)) {
      cluster.start();
      for (int round = 1; round <= ROUNDS; round++) {
        Bus stopped = cluster.awaitLeader();
        Bus other = cluster.buses().stream().filter(b -> b != stopped).findFirst().orElseThrow();
        // The engine remembers that a majority has confirmed this read.
        stopped.answer("read 5000 nothing");
        stopped.pause();
        String topic = "written-" + round;
        String create = "submit 0 0 " + round + " 2000 create " + topic + " v" + round;
        Cluster.until("another one leads", () -> applied(other, create));
        // They are the first things that the bus finds to do.
        List<CompletableFuture<Answer>> reads = new ArrayList<>();
        for (int i = 0; i < READS; i++) {
          reads.add(stopped.ask("read 8000 " + topic));
        }
        stopped.resume();
        for (CompletableFuture<Answer> read : reads) {
          Answer answer = read.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
          assertThat(answer.words()).as("round " + round).contains("v" + round);
        }
      }
    }
    assertThat(recorder.findings()).isEmpty();
  }
}
