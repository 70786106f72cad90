package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static io.eventbus.registry.ratis.TestCluster.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.eventbus.link.LinkSecurity;
import io.eventbus.registry.Backup;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ratis.TestCluster.Node;
import io.eventbus.registry.ratis.disk.OfflineRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Backup, restore, and recovery when the majority is lost. */
@Timeout(120)
class DisasterIT {
  private final Path root;
  private final TestCluster cluster;

  DisasterIT(@TempDir Path root) {
    this.root = root;
    this.cluster = new TestCluster(root);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private Path backup(Node node) throws Exception {
    Backup backup = await(node.registry.administration().backup(TestCluster.LONG));
    Path file = root.resolve("registry.backup");
    try (OutputStream out = Files.newOutputStream(file)) {
      backup.writeTo(out);
    }
    assertThat(backup.description().cluster()).isEqualTo(node.registry.status().cluster());
    return file;
  }

  private static int highestNumber(RegistrySnapshot snapshot) {
    return snapshot.buses().stream().mapToInt(BusInfo::number).max().orElse(0);
  }

  @Test
  void aBackupOfARunningClusterBeginsAnotherOneThatOthersJoin() throws Exception {
    cluster.start(3);
    for (int i = 0; i < 20; i++) {
      await(TestCluster.create(cluster.leader().registry, "t" + i));
    }
    // A follower includes commands that were acknowledged elsewhere before.
    Path file = backup(cluster.follower());
    RegistrySnapshot before = cluster.leader().registry.snapshot();
    String former = cluster.leader().registry.status().cluster();
    List<Node> old = new ArrayList<>(cluster.nodes.values());

    OfflineRegistry.Founded founded =
        OfflineRegistry.restore(file, root.resolve("bus-r"), new BusId("bus-r"));
    assertThat(founded.formerCluster()).isEqualTo(former);
    assertThat(founded.cluster()).isNotEqualTo(former);
    Node restored = cluster.prepare("bus-r", LinkSecurity.none());
    await(restored.registry.start());
    assertThat(restored.registry.status().cluster()).isEqualTo(founded.cluster());
    assertThat(restored.registry.snapshot().topics()).containsExactlyElementsOf(before.topics());
    assertThat(restored.registry.snapshot().buses())
        .hasSize(3)
        .allSatisfy(bus -> assertThat(bus.state()).isEqualTo(BusState.DOWN));
    cluster.register(restored);
    BusInfo self = restored.registry.snapshot().bus(new BusId("bus-r"));
    assertThat(self).isNotNull();
    assertThat(self.number()).isGreaterThan(highestNumber(before) + 60_000);

    // A joining bus has nothing, and gets the snapshot that there was no log before.
    Node joined = cluster.prepare("bus-s", LinkSecurity.none(), restored.address);
    await(joined.registry.start());
    cluster.register(joined);
    long version = await(TestCluster.create(joined.registry, "after")).version();
    until("it has all", () -> joined.registry.snapshot().version() >= version);
    assertThat(joined.registry.snapshot().topics()).hasSize(21);
    assertThat(joined.registry.snapshot().bus(new BusId("bus-a"))).isNotNull();

    // The restored state survives a restart, as everything does.
    cluster.kill(restored);
    cluster.kill(joined);
    CompletionStage<Void> first = cluster.restart(restored);
    await(cluster.restart(joined));
    await(first);
    assertThat(cluster.node("bus-r").registry.snapshot().topics()).hasSize(21);
    // And the old cluster has noticed nothing.
    assertThat(old.get(0).registry.status().cluster()).isEqualTo(former);
    await(TestCluster.create(old.get(0).registry, "still.there"));
  }

  @Test
  void nothingIsRestoredOverWhatIsThereNorFromADamagedFile() throws Exception {
    cluster.start(1);
    await(TestCluster.create(cluster.leader().registry, "t"));
    Path file = backup(cluster.leader());
    BusId bus = new BusId("bus-r");
    Path occupied = Files.createDirectories(root.resolve("occupied"));
    Files.writeString(occupied.resolve("somebody's"), "x");
    assertThatThrownBy(() -> OfflineRegistry.restore(file, occupied, bus))
        .hasMessageContaining("not empty (expected: empty, or not there)");
    byte[] bytes = Files.readAllBytes(file);
    Path target = root.resolve("target");
    for (int i = 0; i < bytes.length; i++) {
      byte[] bad = bytes.clone();
      bad[i] ^= 4;
      Files.write(file, bad);
      assertThatThrownBy(() -> OfflineRegistry.restore(file, target, bus))
          .as("byte %s", i)
          .isInstanceOf(IOException.class);
    }
    Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length - 1));
    assertThatThrownBy(() -> OfflineRegistry.restore(file, target, bus))
        .isInstanceOf(IOException.class);
    assertThat(target).doesNotExist();
  }

  @Test
  void theSurvivorOfALostMajorityBecomesANewClusterAndTheOldMembersCannotComeBack()
      throws Exception {
    cluster.lease = Duration.ofSeconds(1);
    cluster.start(3);
    Node survivor = cluster.follower();
    for (int i = 0; i < 20; i++) {
      await(TestCluster.create(survivor.registry, "t" + i));
    }
    long version = await(TestCluster.create(survivor.registry, "last")).version();
    until("it has all", () -> survivor.registry.snapshot().version() >= version);
    String former = survivor.registry.status().cluster();
    int numbers = highestNumber(survivor.registry.snapshot());
    assertThatThrownBy(() -> OfflineRegistry.recover(survivor.directory, former))
        .hasMessageContaining("another process uses it");
    List<Node> all = new ArrayList<>(cluster.nodes.values());
    all.forEach(cluster::kill);

    OfflineRegistry.Survivor found = OfflineRegistry.inspect(survivor.directory);
    assertThat(found.cluster()).isEqualTo(former);
    assertThat(found.bus()).isEqualTo(new BusId(survivor.name));
    assertThat(found.voters()).containsExactly("bus-a", "bus-b", "bus-c");
    assertThat(found.registry().topics()).hasSize(21);
    assertThatThrownBy(() -> OfflineRegistry.recover(survivor.directory, "yes"))
        .hasMessageContaining("confirmation: yes (expected: " + former);
    OfflineRegistry.Founded founded = OfflineRegistry.recover(survivor.directory, former);
    assertThat(founded.formerCluster()).isEqualTo(former);
    assertThat(Path.of(founded.kept())).isDirectoryRecursivelyContaining("glob:**/log_*");

    await(cluster.restart(survivor));
    Node alone = cluster.node(survivor.name);
    cluster.register(alone);
    assertThat(alone.registry.status().voters()).containsExactly(survivor.name);
    assertThat(alone.registry.snapshot().topics()).hasSize(21);
    BusInfo self = alone.registry.snapshot().bus(new BusId(survivor.name));
    assertThat(self).isNotNull();
    assertThat(self.number()).isGreaterThan(numbers + 60_000);
    await(TestCluster.create(alone.registry, "after"));

    Node late = all.stream().filter(n -> n != survivor).findFirst().orElseThrow();
    late.seeds = List.of(alone.address);
    CompletionStage<Void> start = cluster.restart(late);
    ExecutionException e = catchThrowableOfType(ExecutionException.class, () -> await(start));
    assertThat(e.getCause()).hasMessageContaining("refuses this one: cluster: " + former);
    cluster.kill(cluster.node(late.name));

    // With an empty directory it is welcome.
    Files.move(late.directory, root.resolve("given-up"));
    await(cluster.restart(late));
    cluster.register(cluster.node(late.name));
    cluster.untilSettled(2);
    assertThat(cluster.node(late.name).registry.snapshot().topics()).hasSize(22);
  }

  @Test
  void aRecoveryThatWasInterruptedIsDoneAgain() throws Exception {
    cluster.start(1);
    Node only = cluster.leader();
    await(TestCluster.create(only.registry, "t"));
    String former = only.registry.status().cluster();
    cluster.kill(only);
    // As after the first of the two moves, and after the second.
    Path engine = only.directory.resolve("engine");
    Path kept = only.directory.resolve("engine." + former);
    Files.move(engine, kept);
    assertThatThrownBy(() -> await(cluster.restart(only)))
        .hasMessageContaining("the engine's files are missing");
    cluster.kill(cluster.node(only.name));
    assertThat(OfflineRegistry.inspect(only.directory).registry().topics()).hasSize(1);
    Files.createDirectories(engine.resolve("00000000-0000-4000-8000-000000000001/current"));
    OfflineRegistry.recover(only.directory, former);
    await(cluster.restart(only));
    assertThat(cluster.node(only.name).registry.snapshot().topics()).hasSize(1);
  }

  @Test
  void aDirectoryThatNoBusHasUsedIsNotRecovered() {
    assertThatThrownBy(() -> OfflineRegistry.inspect(root.resolve("nothing")))
        .hasMessageContaining("no registry.marker (expected: that a bus has used it)");
  }
}
