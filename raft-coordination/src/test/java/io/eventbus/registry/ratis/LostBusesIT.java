package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static io.eventbus.registry.ratis.TestCluster.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Registry of a cluster whose buses are killed, stay away, or lose their directory. */
@Timeout(120)
class LostBusesIT {
  private final Path root;
  private final TestCluster cluster;

  LostBusesIT(@TempDir Path root) {
    this.root = root;
    this.cluster = new TestCluster(root);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void afterTheLeadersDeathTheOthersGoOnAndARepeatedCommandGetsItsFirstResult() throws Exception {
    cluster.start(3);
    TestCluster.Node leader = cluster.leader();
    TestCluster.Node other = cluster.follower();
    CommandId id = other.registry.newCommandId();
    TopicCommand.Create command = new TopicCommand.Create(new TopicSpec("once", Map.of()));
    CommandResult first = await(other.registry.submit(id, command, TestCluster.LONG));
    cluster.kill(leader);
    assertThat(await(other.registry.submit(id, command, TestCluster.LONG))).isEqualTo(first);
    assertThat(cluster.leader()).isNotSameAs(leader);
    assertThat(await(TestCluster.create(other.registry, "after")).version())
        .isGreaterThan(first.version());
    await(cluster.restart(leader));
    cluster.untilAllAgree(first.version() + 1);
    TestCluster.Node back = cluster.node(leader.name);
    assertThat(await(back.registry.submit(id, command, TestCluster.LONG))).isEqualTo(first);
  }

  @Test
  void aWholeClusterThatWasKilledComesBackWithEverything() throws Exception {
    cluster.start(3);
    CommandId id = cluster.leader().registry.newCommandId();
    TopicCommand.Create command = new TopicCommand.Create(new TopicSpec("kept", Map.of()));
    CommandResult first = await(cluster.leader().registry.submit(id, command, TestCluster.LONG));
    List<TestCluster.Node> all = new ArrayList<>(cluster.nodes.values());
    all.forEach(cluster::kill);
    List<CompletionStage<Void>> starts = new ArrayList<>();
    for (TestCluster.Node node : all) {
      starts.add(cluster.restart(node));
    }
    for (CompletionStage<Void> start : starts) {
      await(start);
    }
    cluster.untilAllAgree(first.version());
    for (TestCluster.Node node : cluster.nodes.values()) {
      assertThat(node.registry.snapshot().topic("kept")).isNotNull();
      assertThat(await(node.registry.submit(id, command, TestCluster.LONG))).isEqualTo(first);
    }
  }

  @Test
  void aBusThatWasAwayForLongCatchesUpFromASnapshotWithTheMemoryOfCommands() throws Exception {
    cluster.snapshotEntries = 100;
    cluster.start(3);
    TestCluster.Node away = cluster.follower();
    cluster.kill(away);
    TestCluster.Node leader = cluster.leader();
    CommandId id = leader.registry.newCommandId();
    TopicCommand.Create command = new TopicCommand.Create(new TopicSpec("first", Map.of()));
    CommandResult first = await(leader.registry.submit(id, command, TestCluster.LONG));
    long last = 0;
    for (int i = 0; i < 600; i++) {
      last = await(TestCluster.create(leader.registry, "t" + i)).version();
    }
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    CompletionStage<Void> start = cluster.restart(away);
    TestCluster.Node back = cluster.node(away.name);
    back.registry.addListener(
        (snapshot, changes) -> changes.forEach(change -> told.add(change.describe())));
    await(start);
    cluster.untilAllAgree(last);
    // Leases are renewed meanwhile, and arrive a little later.
    until(
        "both show the same registry",
        () -> back.registry.snapshot().equals(leader.registry.snapshot()));
    assertThat(leader.directory.resolve("engine"))
        .isDirectoryRecursivelyContaining("glob:**/sm/snapshot.*");
    assertThat(back.directory.resolve("engine"))
        .isDirectoryRecursivelyContaining("glob:**/sm/snapshot.*");
    assertThat(await(back.registry.submit(id, command, TestCluster.LONG))).isEqualTo(first);
  }

  @Test
  void aMinorityRefusesCommandsAndSaysWhyAndGoesOnReading() throws Exception {
    cluster.start(3);
    long version = await(TestCluster.create(cluster.leader().registry, "t")).version();
    cluster.untilAllAgree(version);
    TestCluster.Node last = cluster.follower();
    for (TestCluster.Node node : cluster.nodes.values()) {
      if (node != last) {
        cluster.kill(node);
      }
    }
    until("it knows no leader", () -> last.registry.status().leader() == null);
    CompletionException e =
        catchThrowableOfType(
            CompletionException.class,
            () ->
                last.registry
                    .submit(
                        new TopicCommand.Create(new TopicSpec("u", Map.of())),
                        Duration.ofMillis(500))
                    .toCompletableFuture()
                    .join());
    RegistryException error = (RegistryException) Objects.requireNonNull(e.getCause());
    assertThat(error.maybeApplied()).isFalse();
    assertThat(error).hasMessageContaining("knows no leader");
    assertThat(error).hasMessageContaining("[bus-a, bus-b, bus-c]");
    assertThat(last.registry.snapshot().topic("t")).isNotNull();
    Duration age = last.registry.localRead().age();
    assertThat(age).isPositive();
  }

  @Test
  void aVoterThatStaysDownIsReplacedAndComesBackAsAListener() throws Exception {
    cluster.lease = Duration.ofSeconds(1);
    cluster.replaceVoterAfter = Duration.ofMillis(500);
    cluster.start(4);
    TestCluster.Node leader = cluster.leader();
    TestCluster.Node lost =
        cluster.nodes.values().stream()
            .filter(n -> n != leader && leader.registry.status().voters().contains(n.name))
            .findFirst()
            .orElseThrow();
    cluster.kill(lost);
    until(
        "it is DOWN and replaced",
        () -> {
          ClusterStatus status = leader.registry.status();
          BusInfo bus = leader.registry.snapshot().bus(new BusId(lost.name));
          return bus != null
              && bus.state() == BusState.DOWN
              && status.voters().size() == 3
              && !status.voters().contains(lost.name)
              && !status.changing();
        });
    await(cluster.restart(lost));
    cluster.register(cluster.node(lost.name));
    until(
        "it listens",
        () -> cluster.node(lost.name).registry.status().role() == ClusterStatus.Role.LISTENER);
    await(TestCluster.create(cluster.node(lost.name).registry, "after"));
  }

  @Test
  void aBusThatLostItsDirectoryIsForgottenBeforeItComesBack() throws Exception {
    cluster.lease = Duration.ofSeconds(1);
    cluster.start(3);
    TestCluster.Node lost = cluster.follower();
    List<Endpoint> others =
        cluster.nodes.values().stream().filter(n -> n != lost).map(n -> n.address).toList();
    long version = await(TestCluster.create(cluster.leader().registry, "t")).version();
    cluster.kill(lost);
    cluster.leader();
    Files.move(lost.directory, root.resolve("lost"));
    lost.seeds = others;
    await(cluster.restart(lost));
    cluster.untilAllAgree(version);
    cluster.register(cluster.node(lost.name));
    cluster.untilSettled(3);
  }

  @Test
  void closingTheRegistryFailsWaitingCommands() throws Exception {
    cluster.start(3);
    TestCluster.Node last = cluster.follower();
    for (TestCluster.Node node : cluster.nodes.values()) {
      if (node != last) {
        cluster.kill(node);
      }
    }
    CompletionStage<CommandResult> waiting = TestCluster.create(last.registry, "t");
    last.registry.close();
    ExecutionException e = catchThrowableOfType(ExecutionException.class, () -> await(waiting));
    assertThat(e.getCause()).isInstanceOf(RegistryClosedException.class);
    assertThat(last.registry.lifecycle()).isEqualTo(RegistryLifecycle.CLOSED);
  }
}
