package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.ratis.TestReplicas.Node;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Replicas of a cluster with rows by which an entry cannot be applied. */
@Timeout(400)
class DamagedReplicaTest {
  private static final int JOURNAL = 1;

  private final Path directory;

  DamagedReplicaTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static void publish(Node node, long sequence) {
    assertThat(
            TestShards.await(
                TestShards.publish(node.journals(), JOURNAL, "a", "p", sequence, 1).result()))
        .isEqualTo(new Published(sequence, false));
  }

  private static void damage(TestReplicas replicas, Node node) throws IOException {
    try (ShardStore store = replicas.openStore(node)) {
      byte[] unused = TestStores.exchange(store, Keys.journalCounters(JOURNAL), new byte[] {99});
    }
  }

  @Test
  void aReplicaWhoseRowsAreDamagedTakesACopy() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 3, 0)) {
      assertThat(replicas.create(TestShards.definition("orders"))).isEqualTo(JOURNAL);
      publish(replicas.leader(), 1);
      replicas.settle();
      Node node = replicas.others(replicas.leader()).get(0);
      replicas.stop(node);
      damage(replicas, node);
      publish(replicas.leader(), 2);
      replicas.start(node);

      TestReplicas.until("the replica has the events", () -> has(node, 2));
      publish(replicas.leader(), 3);
      TestReplicas.until("the replica has the next event", () -> has(node, 3));
      assertThat(node.told().get(0)).startsWith("failed ");
      assertThat(node.told().get(1)).startsWith("copying ");
      String source = node.told().get(1).substring("copying ".length());
      assertThat(node.told().subList(2, node.told().size()))
          .containsExactly("copied " + source, "opened");
    }
  }

  private static boolean has(Node node, int events) {
    ShardStatus status = node.journals().status();
    return status != null
        && status.ready()
        && TestShards.read(node.journals(), JOURNAL, TestShards.ALL).size() == events;
  }

  @Test
  void aReplicaWhoseRowsAreDamagedKeepsThemWhileNobodyOffersACopy() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 1, 0)) {
      assertThat(replicas.create(TestShards.definition("orders"))).isEqualTo(JOURNAL);
      Node node = replicas.leader();
      publish(node, 1);
      replicas.stop(node);
      damage(replicas, node);
      replicas.start(node);
      ShardJournals journals = replicas.leader().journals();
      assertThat(TestShards.publish(journals, JOURNAL, "a", "p", 2, 1)).isNotNull();
      TestReplicas.until("the replica has failed", () -> journals.status() == null);
      TestReplicas.until("the replica is opened anew", () -> journals.status() != null);
      replicas.stop(node);

      try (ShardStore store = replicas.openStore(node);
          StoreLease rows = store.lease()) {
        assertThat(rows.get(Keys.chunk(JOURNAL, 1))).isNotNull();
      }
    }
  }
}
