package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Parts of a shard's files that are missing, another's or too old are told, and not replaced. */
@Timeout(120)
class ShardDirectoryTest {
  private final Path directory;
  private final Path shard;
  private final Path log;
  private final Path store;

  ShardDirectoryTest(@TempDir Path directory) {
    this.directory = directory;
    shard = directory.resolve("shards/1");
    log = shard.resolve("log");
    store = shard.resolve("store");
  }

  private void fill(Path root, int events) throws IOException {
    try (ShardJournals journals = ShardJournals.open(TestShards.options(root))) {
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      TestShards.await(TestShards.publish(journals, journal, "a", "p", 1, events).result());
    }
  }

  private void assertRefused(String... parts) {
    assertThatThrownBy(() -> ShardJournals.open(TestShards.options(directory)).close())
        .isInstanceOf(IOException.class)
        .satisfies(e -> assertThat(e.toString()).contains(parts));
  }

  private static void delete(Path tree) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(tree)) {
      all = files.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : all) {
      Files.delete(path);
    }
  }

  @Test
  void aLogThatIsMissingIsTold() throws IOException {
    fill(directory, 3);
    delete(log);
    assertRefused(log.toString(), "missing", "expected: the log of");
  }

  @Test
  void aStoreThatIsMissingIsTold() throws IOException {
    fill(directory, 3);
    delete(store);
    assertRefused(store.toString(), "missing", "expected: the store of");
  }

  @Test
  void anIdentityThatIsMissingIsTold() throws IOException {
    fill(directory, 3);
    Files.delete(shard.resolve("identity"));
    assertRefused(shard.toString(), "no file \"identity\"");
  }

  @Test
  void filesOfAnotherReplicaAreTold() throws IOException {
    fill(directory, 3);
    ShardOptions mine = TestShards.options(directory);
    ShardOptions other =
        new ShardOptions(directory, mine.cluster(), 1, "bus-b~1", mine.resources(), mine.tuning());
    assertThatThrownBy(() -> ShardJournals.open(other).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("bus-a~1")
        .hasMessageContaining("expected: [format 1, group " + other.group() + ", member bus-b~1]");
    ShardOptions cluster =
        new ShardOptions(directory, new UUID(5, 6), 1, "bus-a~1", mine.resources(), mine.tuning());
    assertThatThrownBy(() -> ShardJournals.open(cluster).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining(mine.group().toString());
  }

  @Test
  void aStoreOfAnotherReplicaIsTold() throws IOException {
    fill(directory, 3);
    Path elsewhere = directory.resolve("elsewhere");
    ShardOptions mine = TestShards.options(directory);
    ShardOptions other =
        new ShardOptions(elsewhere, mine.cluster(), 1, "bus-b~1", mine.resources(), mine.tuning());
    ShardJournals.open(other).close();
    delete(store);
    Files.move(elsewhere.resolve("shards/1/store"), store);
    assertRefused(store.toString(), "bus-b~1", "expected");
    Files.move(
        elsewhere.resolve("shards/1/log/identity"),
        log.resolve("identity"),
        StandardCopyOption.REPLACE_EXISTING);
    assertRefused(log.resolve("identity").toString(), "bus-b~1");
  }

  @Test
  void aLogThatEndsBeforeItsStoreIsTold() throws IOException {
    fill(directory, 3);
    Path old = directory.resolve("old");
    copy(log, old);
    try (ShardJournals journals = ShardJournals.open(TestShards.options(directory))) {
      for (int i = 4; i < 9; i++) {
        TestShards.await(TestShards.publish(journals, 1, "a", "p", i, 1).result());
      }
    }
    delete(log);
    copy(old, log);
    assertRefused(log.toString(), "store: up to entry", "does not end before them");
    assertRefused(log.toString(), "store: up to entry");
  }

  private static void copy(Path from, Path to) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(from)) {
      all = files.toList();
    }
    for (Path path : all) {
      Files.copy(path, to.resolve(from.relativize(path).toString()));
    }
  }

  @Test
  void aCreationThatWasCutShortBeginsAgain() throws IOException {
    fill(directory, 3);
    Path identity = shard.resolve("identity");
    List<String> lines = Files.readAllLines(identity);
    assertThat(lines.get(3)).isEqualTo("ready");
    Files.write(identity, List.of(lines.get(0), lines.get(1), lines.get(2), "creating"));
    delete(store);
    try (ShardJournals journals = ShardJournals.open(TestShards.options(directory))) {
      assertThat(journals.catalog().all()).isEmpty();
    }
    assertThat(Files.readAllLines(identity).get(3)).isEqualTo("ready");
  }

  @Test
  void aDirectoryHasOneUser() throws IOException {
    try (ShardJournals journals = ShardJournals.open(TestShards.options(directory))) {
      assertThat(journals.catalog().all()).isEmpty();
      assertRefused(shard.toString(), "in use");
    }
  }
}
