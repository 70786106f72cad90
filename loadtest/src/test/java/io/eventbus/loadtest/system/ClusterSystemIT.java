package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.Nightly;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three buses from the packaged jar, started at once as {@code docker-compose.yml} does: one list
 * for all, a secret from a file, settings from the environment. One is killed and comes back, one
 * is told to stop.
 */
@Nightly
class ClusterSystemIT {
  private final SystemCluster cluster;

  ClusterSystemIT(@TempDir Path root) throws IOException {
    // A new leader cannot hand over until its first entry is committed, which takes long on a busy
    // machine.
    cluster = new SystemCluster(root, 3, "EVENTBUS_TIMEOUTS_SHUTDOWN", "60s");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void threeBusesFormAClusterLoseOneAndLetOneGo() throws Exception {
    cluster.start();
    Set<String> clusters = new HashSet<>();
    cluster.buses().forEach(bus -> clusters.add(bus.registry().path("clusterId").asText()));
    assertThat(clusters).hasSize(1);
    for (SystemBus bus : cluster.buses()) {
      bus.awaitRegistry(r -> Set.of("LEADER", "VOTER").contains(r.path("role").asText()));
    }

    SystemBus killed = leader();
    killed.kill();
    killed.awaitEnd();
    assertAnotherLeads(killed);
    cluster.restart(killed);
    assertThat(killed.registry().path("clusterId").asText()).isIn(clusters);

    SystemBus drained = leader();
    drained.terminate();
    drained.awaitEnd();
    assertThat(drained.tail()).contains("Stopped").doesNotContain("still leads");
    assertAnotherLeads(drained);
  }

  private SystemBus leader() {
    String name = cluster.bus(0).registry().path("leader").asText();
    return cluster.buses().stream()
        .filter(bus -> bus.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private void assertAnotherLeads(SystemBus gone) {
    for (SystemBus bus : cluster.buses()) {
      if (bus != gone) {
        bus.awaitRegistry(r -> !Set.of("", gone.name()).contains(r.path("leader").asText("")));
        assertThat(bus.get("/readyz").path("state").asText()).isEqualTo("UP");
      }
    }
  }
}
