package io.eventbus.registry.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A bus comes back whose log goes beyond the snapshot that the leader sends to new ones. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "signals and one clock for all processes")
@Timeout(180)
class ReadmittedBusIT {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int SNAPSHOT_ENTRIES = 100;

  private final Path directory;
  private final Recorder recorder = new Recorder();

  ReadmittedBusIT(@TempDir Path directory) {
    this.directory = directory;
  }

  private static Answer ask(Bus bus, String request) {
    try {
      return Objects.requireNonNull(bus.ask(request, PATIENCE), request);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One after the other: each is an entry. Returns the version that there is then. */
  private static long create(Bus leader, int round, int count) {
    long version = 0;
    for (int i = 1; i <= count; i++) {
      Answer created =
          ask(leader, "submit 0 " + round + " " + i + " 5000 create t-" + round + "-" + i + " v");
      assertThat(created.kind()).isEqualTo("applied");
      version = created.localVersion();
    }
    return version;
  }

  @Test
  void startsAlthoughItWasTakenOutMeanwhile() throws Exception {
    Cluster.Plan plan =
        new Cluster.Plan(4, 3, 600_000, 1_500, SNAPSHOT_ENTRIES, 32_768, false, Cluster.Plan.SMALL);
    try (Cluster cluster = Cluster.create(plan, directory, new Random(), recorder)) {
      cluster.start();
      Cluster.until("there is a leader", () -> cluster.leader() != null);
      Bus leader = Objects.requireNonNull(cluster.leader());
      String listening = ask(leader, "status").word(7).substring(1);
      Bus listener =
          cluster.buses().stream()
              .filter(b -> b.name().equals(listening))
              .findFirst()
              .orElseThrow();

      // Far enough for the beginning of the log to be cut off, and half way to the next snapshot.
      long version = create(leader, 0, 7 * SNAPSHOT_ENTRIES / 2);
      assertThat(ask(leader, "snapshot 5000").word(1)).isEqualTo("taken");
      // The leader's snapshot is now newer than the listener's, and the listener's log newer still.
      version = Math.max(version, create(leader, 1, SNAPSHOT_ENTRIES / 10));
      cluster.awaitAgreement(version);
      listener.kill();
      Cluster.until(
          listening + " is DOWN", () -> ask(leader, "state " + listening).word(1).equals("DOWN"));
      assertThat(ask(leader, "remove " + listening + " 5000").words())
          .containsExactly("is", "removed");

      listener.start();
      listener.awaitStarted(Duration.ofSeconds(30));
      cluster.awaitAgreement(create(leader, 2, SNAPSHOT_ENTRIES));
      assertThat(listener.isUp()).isTrue();
    }
    assertThat(recorder.findings()).isEmpty();
  }
}
