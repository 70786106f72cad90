package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkSecurity;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class JoiningIT {
  /**
   * Number of entries that a new bus must not have to read one by one: more than a quarter of its
   * 200.
   */
  private static final int MANY = 60;

  private final TestCluster cluster;

  JoiningIT(@TempDir Path root) {
    this.cluster = new TestCluster(root);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private long snapshotIndex(TestCluster.Node node) {
    return node.registry.administration().status().log().snapshotIndex();
  }

  private TestCluster.Node join(String name) throws Exception {
    TestCluster.Node node = cluster.prepare(name, LinkSecurity.none(), cluster.leader().address);
    await(node.registry.start());
    cluster.register(node);
    return node;
  }

  @Test
  void aBusThatJoinsALongLogGetsASnapshotAndTheNextOneTheSame() throws Exception {
    cluster.voters = 1;
    cluster.snapshotEntries = 200;
    cluster.start(1);
    TestCluster.Node leader = cluster.leader();
    for (int i = 0; i < MANY; i++) {
      await(TestCluster.create(leader.registry, "topic-" + i));
    }
    assertThat(snapshotIndex(leader)).isEqualTo(-1);

    TestCluster.Node first = join("bus-x");
    long taken = snapshotIndex(leader);
    assertThat(taken).isGreaterThanOrEqualTo(MANY);
    assertThat(snapshotIndex(first)).isEqualTo(taken);
    assertThat(first.registry.snapshot().topics()).hasSize(MANY);

    TestCluster.Node second = join("bus-y");
    assertThat(snapshotIndex(leader)).isEqualTo(taken);
    assertThat(snapshotIndex(second)).isEqualTo(taken);
    assertThat(second.registry.snapshot().topics()).hasSize(MANY);
    assertThat(leader.registry.status().listeners()).containsExactlyInAnyOrder("bus-x", "bus-y");
  }
}
