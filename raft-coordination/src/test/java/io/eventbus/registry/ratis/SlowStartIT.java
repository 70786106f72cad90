package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static io.eventbus.registry.ratis.TestCluster.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.link.LinkSecurity;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.TestCluster.Node;
import io.eventbus.registry.ratis.disk.DataDirectory;
import io.eventbus.registry.ratis.join.SeedSource;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Registry that is closed while it starts, and does not notice at once. */
@Timeout(120)
class SlowStartIT {
  private static final String BUS = "bus-a";

  private final TestCluster cluster;

  SlowStartIT(@TempDir Path root) {
    this.cluster = new TestCluster(root);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  /** Source that names other buses only when it may, whatever interrupts it. */
  private static final class SlowSource implements SeedSource {
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch interrupted = new CountDownLatch(1);
    final CountDownLatch free = new CountDownLatch(1);

    @Override
    public List<Endpoint> seeds() {
      asked.countDown();
      while (true) {
        try {
          free.await();
          return List.of();
        } catch (InterruptedException e) {
          interrupted.countDown();
        }
      }
    }
  }

  private static boolean isStopping() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("registry-stop-" + BUS));
  }

  @Test
  void aStartThatGoesOnKeepsItsDirectoryAndIsClosedAtItsEnd() throws Exception {
    Node node = cluster.prepare(BUS, LinkSecurity.none());
    await(node.registry.start());
    node.registry.close();

    SlowSource source = new SlowSource();
    RatisRegistryOptions options =
        RatisRegistryOptions.of(node.directory, new BusId(BUS), node.address, List.of());
    RatisRegistry slow = new RatisRegistry(options, source, node.links, Clock.systemUTC());
    var unused = slow.start();
    source.asked.await();
    CompletableFuture<Void> stopped = slow.shutdown(Duration.ofSeconds(60)).toCompletableFuture();
    source.interrupted.await();
    until("the stop has done what it can", () -> !isStopping());
    assertThatThrownBy(() -> DataDirectory.open(node.directory, new BusId(BUS)))
        .hasMessageContaining("another process uses it");
    assertThat(stopped).isNotDone();

    source.free.countDown();
    await(stopped);
    node.registry = cluster.registry(BUS, node.directory, node.links, node.address, List.of());
    await(node.registry.start());
    assertThat(node.registry.status().leader()).isEqualTo(BUS);
  }
}
