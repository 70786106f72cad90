package io.eventbus.registry.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Return of a bus whose log goes beyond the snapshot that the leader sends to new ones. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "signals and one clock for all processes")
@Tag("faults")
@Timeout(180)
class ReadmittedBusIT {
  private static final int SNAPSHOT_ENTRIES = 100;

  private final Path directory;
  private final Recorder recorder = new Recorder();

  ReadmittedBusIT(@TempDir Path directory) {
    this.directory = directory;
  }

  /**
   * Creates topics one after the other: each is an entry. Returns the version that there is then.
   */
  private static long create(Bus leader, int round, int count) {
    long version = 0;
    for (int i = 1; i <= count; i++) {
      Answer created =
          leader.answer("submit 0 " + round + " " + i + " 5000 create t-" + round + "-" + i + " v");
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
      Bus leader = cluster.awaitLeader();
      String listening = leader.answer("status").word(7).substring(1);
      Bus listener =
          cluster.buses().stream()
              .filter(b -> b.name().equals(listening))
              .findFirst()
              .orElseThrow();

      // Far enough for the beginning of the log to be cut off, and half way to the next snapshot.
      long version = create(leader, 0, 7 * SNAPSHOT_ENTRIES / 2);
      assertThat(leader.answer("snapshot 5000").word(1)).isEqualTo("taken");
      // The leader's snapshot is now newer than the listener's, and the listener's log newer still.
      version = Math.max(version, create(leader, 1, SNAPSHOT_ENTRIES / 10));
      cluster.awaitAgreement(version);
      listener.kill();
      Cluster.until(
          listening + " is DOWN", () -> leader.answer("state " + listening).word(1).equals("DOWN"));
      assertThat(leader.answer("remove " + listening + " 5000").words())
          .containsExactly("is", "removed");

      listener.start();
      listener.awaitStarted(Duration.ofSeconds(30));
      cluster.awaitAgreement(create(leader, 2, SNAPSHOT_ENTRIES));
      assertThat(listener.isUp()).isTrue();
    }
    assertThat(recorder.findings()).isEmpty();
  }
}
