package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.eventbus.link.LinkSecurity;
import io.eventbus.raft.GateLimits;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.placement.ShardPlacement;
import io.eventbus.testing.TestPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Registry of a cluster: its start, commands, and which buses are admitted. */
@Timeout(120)
class RatisRegistryIT {
  private final Path root;
  private final TestCluster cluster;

  RatisRegistryIT(@TempDir Path root) {
    this.root = root;
    this.cluster = new TestCluster(root);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 5})
  void everyBusTakesCommandsAndHasTheWholeRegistry(int buses) throws Exception {
    cluster.voters = buses;
    cluster.start(buses);
    long last = 0;
    for (TestCluster.Node node : cluster.nodes.values()) {
      assertThat(node.registry.lifecycle()).isEqualTo(RegistryLifecycle.RUNNING);
      last = await(TestCluster.create(node.registry, "topic." + node.name)).version();
    }
    cluster.untilAllAgree(last);
    for (TestCluster.Node node : cluster.nodes.values()) {
      assertThat(node.registry.snapshot().topics()).hasSize(buses);
      RegistrySnapshot read = await(node.registry.linearizableRead(TestCluster.LONG));
      assertThat(read.version()).isGreaterThanOrEqualTo(last);
      assertThat(node.registry.localRead().age()).isLessThan(Duration.ofSeconds(10));
    }
  }

  @Test
  void everyBusKnowsWhereAShardIs() throws Exception {
    cluster.storage = 2;
    cluster.start(3);
    RatisRegistry registry = cluster.follower().registry;
    RegistrySnapshot known = await(registry.linearizableRead(TestCluster.LONG));
    ShardCommand.Place place = Objects.requireNonNull(ShardPlacement.next(known, 1));
    long version =
        await(registry.submit(place, TestCluster.LONG))
            .expect(CommandResult.ShardPlaced.class)
            .version();
    cluster.untilAllAgree(version);
    for (TestCluster.Node node : cluster.nodes.values()) {
      assertThat(node.registry.snapshot().shards())
          .containsExactly(new ShardInfo(1, version, place.replicas()));
    }
    assertThat(place.replicas())
        .hasSize(3)
        .allMatch(replica -> replica.voter() && replica.generation() == 2);
  }

  @Test
  void changesAreToldOnEveryBusInOrder() throws Exception {
    cluster.start(3);
    TestCluster.Node follower = cluster.follower();
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    follower.registry.addListener(
        (snapshot, changes) -> changes.forEach(change -> told.add(change.describe())));
    for (int i = 0; i < 20; i++) {
      await(TestCluster.create(cluster.leader().registry, "t" + i));
    }
    for (int i = 0; i < 20; i++) {
      assertThat(told.poll(60, TimeUnit.SECONDS)).startsWith("topic 't" + i + "': created");
    }
  }

  /**
   * Checks a lonely command. A heartbeat would tell it, too: then each command would take one of
   * them, a second. A lonely command is seen within milliseconds, and on a busy machine most are at
   * least before the next.
   */
  @Test
  void aLonelyCommandIsSeenEverywhereWithoutWaitingForAHeartbeat() throws Exception {
    cluster.electionTimeoutMin = Duration.ofSeconds(2);
    cluster.start(3);
    TestCluster.Node leader = cluster.leader();
    cluster.untilAllAgree(await(TestCluster.create(leader.registry, "first")).version());
    int soon = 0;
    for (int i = 0; i < 40; i++) {
      long start = System.nanoTime();
      cluster.untilAllAgree(await(TestCluster.create(leader.registry, "t" + i)).version());
      if (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(700)) {
        soon++;
      }
    }
    assertThat(soon).isGreaterThan(20);
  }

  @Test
  void manyCommandsAtOnceAreAllAppliedOnce() throws Exception {
    cluster.gate = new GateLimits(2, 64, 64 << 10, 10_000, 8L << 20);
    cluster.start(3);
    List<CompletionStage<CommandResult>> answers = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      for (TestCluster.Node node : cluster.nodes.values()) {
        answers.add(TestCluster.create(node.registry, "t." + node.name + "." + i));
      }
    }
    for (CompletionStage<CommandResult> answer : answers) {
      assertThat(await(answer)).isInstanceOf(CommandResult.TopicCreated.class);
    }
    assertThat(await(cluster.leader().registry.linearizableRead(TestCluster.LONG)).topics())
        .hasSize(1_500);
  }

  @Test
  void refusesABusWithoutTheSecret() throws Exception {
    byte[] secret = "0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    TestCluster.Node a = cluster.prepare("bus-a", LinkSecurity.sharedSecret(secret));
    await(a.registry.start());
    TestCluster.Node stranger = cluster.prepare("bus-b", LinkSecurity.none(), a.address);
    ExecutionException e =
        catchThrowableOfType(ExecutionException.class, () -> await(stranger.registry.start()));
    assertThat(e.getCause()).hasMessageContaining("the proof of the shared secret is wrong");
    assertThat(stranger.registry.lifecycle()).isEqualTo(RegistryLifecycle.FAILED);
    assertThat(a.registry.status().voters()).containsExactly("bus-a");
    TestCluster.Node friend =
        cluster.prepare("bus-c", LinkSecurity.sharedSecret(secret), a.address);
    await(friend.registry.start());
    assertThat(friend.registry.status().cluster()).isEqualTo(a.registry.status().cluster());
  }

  @Test
  void aBusOfAnotherClusterIsRefused() throws Exception {
    TestCluster.Node a = cluster.prepare("bus-a", LinkSecurity.none());
    TestCluster.Node b = cluster.prepare("bus-b", LinkSecurity.none());
    await(a.registry.start());
    await(b.registry.start());
    String foreign = b.registry.status().cluster();
    cluster.kill(b);
    b.seeds = List.of(a.address);
    CompletionStage<Void> start = cluster.restart(b);
    ExecutionException e = catchThrowableOfType(ExecutionException.class, () -> await(start));
    assertThat(e.getCause()).hasMessageContaining("refuses this one: cluster: " + foreign);
    assertThat(a.registry.status().voters()).containsExactly("bus-a");
  }

  /** Repeats as often as the property says; the long run does it 200 times. */
  @Test
  @Timeout(1_200)
  void freshBusesThatStartAtOnceFormExactlyOneCluster() throws Exception {
    int times = Integer.getInteger("eventbus.registry.starts", 2);
    for (int i = 0; i < times; i++) {
      try (TestCluster fresh = new TestCluster(root.resolve("start-" + i))) {
        List<Endpoint> seeds = new ArrayList<>();
        for (int bus = 0; bus < 3; bus++) {
          seeds.add(new Endpoint("127.0.0.1", TestPorts.find()));
        }
        List<CompletionStage<Void>> starts = new ArrayList<>();
        for (int bus = 0; bus < 3; bus++) {
          starts.add(fresh.prepareAt("bus-" + bus, seeds.get(bus).port(), seeds).registry.start());
        }
        for (CompletionStage<Void> start : starts) {
          await(start);
        }
        assertThat(fresh.nodes.values().stream().map(n -> n.registry.status().cluster()))
            .allSatisfy(id -> assertThat(id).isNotEmpty())
            .containsOnly(fresh.node("bus-0").registry.status().cluster());
      }
    }
  }
}
