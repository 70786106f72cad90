package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.Retention;
import io.eventbus.journal.ratis.TestReplicas.Node;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Replicas of a cluster with events that cannot be read. */
@Timeout(400)
class EventRepairTest {
  private static final int JOURNAL = 1;
  private static final byte[] DAMAGED = {99, 1, 2, 3};

  private final Path directory;

  EventRepairTest(@TempDir Path directory) {
    this.directory = directory;
  }

  /** Publishes events, each in a chunk of its own. */
  private static void publish(TestReplicas replicas, int events) throws InterruptedException {
    for (int sequence = 1; sequence <= events; sequence++) {
      assertThat(
              TestShards.await(
                  TestShards.publish(replicas.leader().journals(), JOURNAL, "a", "p", sequence, 1)
                      .result()))
          .isEqualTo(new Published(sequence, false));
    }
    replicas.settle();
  }

  private static byte[] damage(Node node, byte[] key) {
    return TestStores.exchange(node.journals().shard().store(), key, DAMAGED);
  }

  private static byte[] row(ShardStore store, byte[] key) {
    try (StoreLease rows = store.lease()) {
      return Objects.requireNonNull(rows.get(key));
    }
  }

  private static byte[] row(Node node, byte[] key) {
    return row(node.journals().shard().store(), key);
  }

  /** Reads on until a reader has got to a position; returns what it was told is not there. */
  private static List<ReadHole> holes(Node node, long end) throws InterruptedException {
    List<ReadHole> holes = new ArrayList<>();
    long[] next = {1};
    BooleanSupplier read =
        () -> {
          ReadBatch batch =
              Objects.requireNonNull(
                  node.journals().reader(JOURNAL, TestShards.ALL).read(next[0], 1 << 20));
          holes.addAll(batch.holes());
          next[0] = batch.to() + 1;
          return batch.to() >= end;
        };
    TestReplicas.until("position " + end + " is read", read);
    return holes;
  }

  private TestReplicas three(JournalDefinition definition) throws Exception {
    TestReplicas replicas = TestReplicas.start(directory, 3, 0);
    assertThat(replicas.create(definition)).isEqualTo(JOURNAL);
    return replicas;
  }

  @Test
  void eventsThatAnotherReplicaCanReadAreRepairedAndNobodyMissesThem() throws Exception {
    try (TestReplicas replicas = three(TestShards.definition("orders"))) {
      publish(replicas, 3);
      // At two of three replicas, of which one leads.
      for (Node node : List.of(replicas.leader(), replicas.others(replicas.leader()).get(0))) {
        byte[] chunk = damage(node, Keys.chunk(JOURNAL, 2));
        byte[] index = row(node, Keys.chunkIndex(JOURNAL, 2));

        assertThat(holes(node, 3)).isEmpty();
        assertThat(row(node, Keys.chunk(JOURNAL, 2))).isEqualTo(chunk);
        assertThat(row(node, Keys.chunkIndex(JOURNAL, 2))).isEqualTo(index);
      }
    }
  }

  @Test
  void anIndexIsRepaired() throws Exception {
    try (TestReplicas replicas = three(TestShards.definition("orders"))) {
      publish(replicas, 3);
      Node node = replicas.leader();
      byte[] index = damage(node, Keys.chunkIndex(JOURNAL, 2));

      assertThat(holes(node, 3)).isEmpty();
      assertThat(row(node, Keys.chunkIndex(JOURNAL, 2))).isEqualTo(index);
    }
  }

  @Test
  void aLatestEventIsRepaired() throws Exception {
    JournalDefinition latest =
        new JournalDefinition(
            "orders",
            List.of(TestShards.ALL),
            KeepPolicy.LATEST,
            Retention.UNLIMITED,
            FullPolicy.DROP_OLD);
    try (TestReplicas replicas = three(latest)) {
      publish(replicas, 2);
      Node node = replicas.leader();
      byte[] event = damage(node, Keys.latest(JOURNAL, 1));

      assertThat(holes(node, 2)).isEmpty();
      assertThat(row(node, Keys.latest(JOURNAL, 1))).isEqualTo(event);
    }
  }

  @Test
  void eventsThatNoReplicaCanReadAreToldAsDamagedAndOnlyThese() throws Exception {
    try (TestReplicas replicas = three(TestShards.definition("orders"))) {
      publish(replicas, 4);
      for (Node node : replicas.up()) {
        byte[] unused = damage(node, Keys.chunk(JOURNAL, 2));
      }
      Node node = replicas.leader();
      byte[] next = damage(node, Keys.chunk(JOURNAL, 3));

      assertThat(holes(node, 4)).containsExactly(new ReadHole(ReadHole.Reason.DAMAGED, 2, 2));
      assertThat(row(node, Keys.chunk(JOURNAL, 3))).isEqualTo(next);
    }
  }

  @Test
  void lostEventsWithoutAnIndexAreToldAsDamagedUpToTheNextChunk() throws Exception {
    try (TestReplicas replicas = three(TestShards.definition("orders"))) {
      publish(replicas, 3);
      for (Node node : replicas.up()) {
        byte[] chunk = damage(node, Keys.chunk(JOURNAL, 2));
        byte[] index = damage(node, Keys.chunkIndex(JOURNAL, 2));
        assertThat(chunk).isNotEqualTo(index);
      }

      assertThat(holes(replicas.leader(), 3))
          .containsExactly(new ReadHole(ReadHole.Reason.DAMAGED, 2, 2));
    }
  }

  @Test
  void aReaderWaitsWhileNoReplicaThatMayHaveTheEventsCanBeAsked() throws Exception {
    try (TestReplicas replicas = three(TestShards.definition("orders"))) {
      publish(replicas, 2);
      Node node = replicas.leader();
      Node damaged = replicas.others(node).get(0);
      Node away = replicas.others(node).get(1);
      byte[] chunk = damage(node, Keys.chunk(JOURNAL, 2));
      byte[] unused = damage(damaged, Keys.chunk(JOURNAL, 2));
      replicas.kill(away);
      ReadBatch batch =
          Objects.requireNonNull(node.journals().reader(JOURNAL, TestShards.ALL).read(1, 1 << 20));
      assertThat(batch.to()).isEqualTo(1);
      assertThat(batch.holes()).isEmpty();
      replicas.start(away);

      assertThat(holes(node, 2)).isEmpty();
      assertThat(row(node, Keys.chunk(JOURNAL, 2))).isEqualTo(chunk);
    }
  }

  @Test
  void aPurgeIsNotUndone() throws Exception {
    try (TestReplicas replicas = three(TestShards.definition("orders"))) {
      publish(replicas, 3);
      Node node = replicas.leader();
      Object purged = TestShards.await(node.journals().purge(JOURNAL, "", 2, 2));
      assertThat(purged).isNotNull();
      replicas.settle();
      byte[] unused = damage(node, Keys.chunk(JOURNAL, 2));

      assertThat(holes(node, 3)).containsExactly(new ReadHole(ReadHole.Reason.PURGED, 2, 2));
    }
  }

  @Test
  void aReplicaWithOtherDamagedRowsTakesACopyWhenAReaderMeetsThem() throws Exception {
    try (TestReplicas replicas = three(TestShards.definition("orders"))) {
      publish(replicas, 2);
      Node node = replicas.others(replicas.leader()).get(0);
      byte[] counters = damage(node, Keys.journalCounters(JOURNAL));

      TestReplicas.until("the counters can be read", () -> figures(node));
      TestReplicas.until("the replica is ready", () -> isReady(node));
      assertThat(row(node, Keys.journalCounters(JOURNAL))).isEqualTo(counters);
    }
  }

  private static boolean isReady(Node node) {
    ShardStatus status = node.journals().status();
    return status != null && status.ready();
  }

  private static boolean figures(Node node) {
    try {
      return node.journals().figures(JOURNAL) != null;
    } catch (JournalsUnavailableException e) {
      return false;
    }
  }
}
