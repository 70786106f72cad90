package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static io.eventbus.registry.ratis.TestCluster.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.RegistryTimeoutException;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.ratis.TestCluster.Node;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bus whose disk makes no progress. The engine says yes to entries that are sent to it a second
 * time although the first ones still wait for the disk.
 */
@Tag("faults")
@Timeout(180)
class SlowDiskIT {
  /** Method where the engine begins to write its log. */
  private static final String LOG_WRITER = "SegmentedRaftLogWorker.runWorker";

  private final CountDownLatch disk = new CountDownLatch(1);

  @AfterEach
  void getOn() {
    disk.countDown();
    CodeInjectionForTesting.remove(LOG_WRITER);
  }

  private boolean write(String slow, Object bus) {
    try {
      return slow.equals(String.valueOf(bus)) && disk.await(100, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Test
  void doesNotAcknowledgeEntriesOnOneDiskOfThree(@TempDir Path root) throws Exception {
    try (TestCluster cluster = new TestCluster(root)) {
      cluster.start(3);
      Node leader = cluster.leader();
      Node slow = cluster.follower();
      cluster.kill(slow);
      CodeInjectionForTesting.put(LOG_WRITER, (bus, peer, more) -> write(slow.name, bus));
      var started = cluster.restart(slow);
      until(
          "the slow bus follows",
          () -> leader.name.equals(cluster.node(slow.name).registry.status().leader()));
      long term = leader.registry.status().term();
      for (Node other : cluster.nodes.values()) {
        if (!other.name.equals(leader.name) && !other.name.equals(slow.name)) {
          cluster.kill(other);
        }
      }

      CommandId id = CommandId.random(leader.registry.snapshot().version());
      TopicCommand command = new TopicCommand.Create(new TopicSpec("kept", Map.of()));
      var early = leader.registry.submit(id, command, Duration.ofSeconds(3));
      assertThatThrownBy(() -> await(early)).hasCauseInstanceOf(RegistryTimeoutException.class);
      assertThat(leader.registry.snapshot().topic("kept")).isNull();
      // Heartbeats do not wait for disks.
      assertThat(cluster.currentLeader()).isSameAs(leader);
      assertThat(leader.registry.status().term()).isEqualTo(term);

      disk.countDown();
      var again = await(leader.registry.submit(id, command, TestCluster.LONG));
      assertThat(again.version()).isPositive();
      assertThat(leader.registry.snapshot().topic("kept")).isNotNull();
      await(started);
    }
  }
}
