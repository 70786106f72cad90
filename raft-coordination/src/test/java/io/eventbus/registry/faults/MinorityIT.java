package io.eventbus.registry.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Bus that has lost the majority: it says so, and goes on with its snapshot. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "signals and one clock for all processes")
@Tag("faults")
@Timeout(180)
class MinorityIT {
  private final Path directory;
  private final Recorder recorder = new Recorder();

  MinorityIT(@TempDir Path directory) {
    this.directory = directory;
  }

  private static String create(int id, String topic) {
    return "submit 0 0 " + id + " 2000 create " + topic + " v" + id;
  }

  @Test
  void aMinorityRefusesCommandsClearlyAndReadsOnFromMemory() throws Exception {
    try (Cluster cluster = Cluster.create(Cluster.Plan.of(3), directory, new Random(), recorder)) {
      cluster.start();
      Bus cutOff = Objects.requireNonNull(cluster.leader());
      List<Bus> others = cluster.buses().stream().filter(b -> b != cutOff).toList();
      Answer known = cutOff.answer(create(1, "known"));
      assertThat(known.kind()).isEqualTo("applied");

      boolean split = cluster.network().canPartition();
      if (split) {
        cluster.network().split(Set.of(cutOff.index()));
      } else {
        System.out.println("partition skipped (" + cluster.network().describe() + "): two killed");
        others.get(0).kill();
        others.get(1).kill();
      }
      // Until the bus has noticed, a command may time out with an unknown outcome.
      Cluster.until(
          "it has noticed",
          () -> "null".equals(Objects.requireNonNull(Cluster.status(cutOff)).get(3)));
      Answer refused = cutOff.answer(create(2, "refused"));
      assertThat(String.join(" ", refused.words()))
          .startsWith("error not ")
          .contains("RegistryUnavailableException")
          .contains("bus " + cutOff.name() + " knows no leader")
          .contains("a majority of the voters [bus-a, bus-b, bus-c] reach each other");
      assertThat(String.join(" ", cutOff.answer("read 1000 known").words())).startsWith("error ");
      assertThat(cutOff.answer("local known").words()).contains("v1");
      long age = Long.parseLong(Objects.requireNonNull(Cluster.status(cutOff)).get(9));
      assertThat(age).isPositive();

      if (!split) {
        others.get(0).start();
        others.get(1).start();
      }
      Cluster.until(
          "the majority writes",
          () -> others.get(0).answer(create(3, "after")).kind().equals("applied"));
      cluster.heal();
      Answer back = cutOff.answer("read 8000 after");
      assertThat(back.words()).contains("v3");
      assertThat(cutOff.answer("local refused").words()).doesNotContain("v2");
    }
    assertThat(recorder.findings()).isEmpty();
  }
}
