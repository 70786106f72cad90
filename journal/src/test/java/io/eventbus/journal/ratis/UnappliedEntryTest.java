package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.ratis.TestShards.Answer;
import io.eventbus.journal.read.JournalPositions;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.Shard;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.state.ShardLimits;
import io.eventbus.journal.store.FlushPolicy;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Log entry that cannot be applied: nothing behind it is applied before it. */
@Timeout(120)
class UnappliedEntryTest {
  private static final int GOOD = 1;
  private static final int BAD = 2;

  private final Path directory;
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();

  UnappliedEntryTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static ShardOptions options(Path root) {
    FlushPolicy never = new FlushPolicy(Long.MAX_VALUE, Duration.ofDays(1));
    return TestShards.withoutDuties(
        TestShards.options(root, ShardLimits.DEFAULT, System::currentTimeMillis, never));
  }

  private ShardServer open(Path root) throws IOException {
    return TestShards.open(
        options(root),
        new ShardServer.Observer() {
          @Override
          public void onApplied(JournalCatalog catalog, ShardChanges changes, boolean leads) {}

          @Override
          public void onFailure(Throwable cause) {
            failures.add(cause);
          }
        });
  }

  private static ShardStore openStore(Path root) throws IOException {
    return TestShards.openStore(options(root));
  }

  private static void publish(ShardServer shard, int journal, long sequence) {
    Answer answer = new Answer();
    assertThat(
            shard
                .gate()
                .append(
                    TestShards.head(journal, "a", "p", sequence),
                    TestShards.events(sequence, 1, 20),
                    answer))
        .isTrue();
    assertThat(TestShards.await(answer.result())).isEqualTo(new Published(sequence, false));
  }

  /** Returns a copy of the files of a shard that runs, as a kill of its process leaves them. */
  private Path copy(Path root, String name) throws IOException {
    Path copy = directory.resolve(name);
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, copy.resolve(root.relativize(file).toString()));
      }
    }
    return copy;
  }

  private static byte[] exchange(Path root, byte[] key, byte[] value) throws IOException {
    try (ShardStore store = openStore(root)) {
      return TestStores.exchange(store, key, value);
    }
  }

  private static long lastPosition(Path root, int journal) throws IOException {
    try (ShardStore store = openStore(root);
        StoreLease rows = store.lease()) {
      JournalCounters counters = JournalPositions.counters(rows, journal);
      return Objects.requireNonNull(counters, "journal").lastPosition();
    }
  }

  private static CompletableFuture<Message> apply(
      ShardStateMachine machine, long index, ShardRecord record) {
    ByteBuffer bytes = TestEntries.bytes(1_000, List.of(record));
    return machine.applyTransaction(
        TransactionContext.newBuilder()
            .setServerRole(RaftPeerRole.LEADER)
            .setStateMachine(machine)
            .setLogEntry(
                LogEntryProto.newBuilder()
                    .setTerm(1)
                    .setIndex(index)
                    .setStateMachineLogEntry(
                        StateMachineLogEntryProto.newBuilder()
                            .setLogData(ByteString.copyFrom(bytes)))
                    .build())
            .build());
  }

  private ShardStateMachine machine(ShardStore store) {
    return new ShardStateMachine(
        store,
        new Shard(ShardLimits.DEFAULT, Shard.CACHE_BYTES, true),
        new ShardStateMachine.Observer() {
          @Override
          public void onApplied(Entry entry, ShardChanges changes, boolean leads) {}

          @Override
          public void onFailure(Throwable cause) {
            failures.add(cause);
          }
        });
  }

  private static Publish publication(int journal) {
    return new Publish(
        TestEntries.head(journal, "a", "p", 1, 0, 0, 0, 0), TestEntries.numbered(1, 1, 20));
  }

  /** Ratis ends by what is thrown; a failed future is one line in its log, and it goes on. */
  @Test
  void anEntryThatCannotBeAppliedIsThrownAndEndsTheApplication() throws Exception {
    try (ShardStore store = TestStores.open(directory)) {
      ShardStateMachine created = machine(store);
      created.notifyTermIndexUpdated(1, 0);
      apply(created, 1, new CreateJournal(TestShards.definition("good"), 0)).get();
      apply(created, 2, new CreateJournal(TestShards.definition("bad"), 0)).get();
      assertThat(store.flush(Duration.ofSeconds(60))).isTrue();
      byte[] row = TestStores.exchange(store, Keys.journalCounters(BAD), new byte[] {99});

      ShardStateMachine machine = machine(store);
      assertThatThrownBy(() -> apply(machine, 3, publication(BAD)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("log entry 3 cannot be applied");
      machine.notifyTermIndexUpdated(1, 4);
      assertThatThrownBy(() -> apply(machine, 5, publication(GOOD)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("log entry 5: not applied");
      assertThat(store.applied().index()).isEqualTo(2);
      assertThat(failures).as("told once").hasSize(1);

      byte[] unused = TestStores.exchange(store, Keys.journalCounters(BAD), row);
      ShardStateMachine next = machine(store);
      apply(next, 3, publication(BAD)).get();
      next.notifyTermIndexUpdated(1, 4);
      apply(next, 5, publication(GOOD)).get();
      assertThat(store.applied().index()).isEqualTo(5);
    }
  }

  @Test
  void entriesBehindAnEntryThatCannotBeAppliedAreLeftToTheNextStart() throws Exception {
    Path first = directory.resolve("first");
    Path second;
    long before;
    try (ShardServer shard = open(first)) {
      for (String name : List.of("good", "bad")) {
        RecordResult unused =
            TestShards.await(
                shard.gate().submit(new CreateJournal(TestShards.definition(name), 0)));
      }
      publish(shard, GOOD, 1);
      publish(shard, BAD, 1);
      assertThat(shard.store().flush(Duration.ofSeconds(60))).isTrue();
      before = shard.store().appliedOnDisk().index();
      publish(shard, BAD, 2);
      second = copy(first, "second");
    }
    Path third;
    // A start puts an entry of Ratis's own between the two.
    try (ShardServer shard = open(second)) {
      publish(shard, GOOD, 2);
      third = copy(second, "third");
    }
    byte[] row = exchange(third, Keys.journalCounters(BAD), new byte[] {99});

    assertThatThrownBy(() -> open(third))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("failed while it applied its log");
    assertThat(failures).as("told once").hasSize(1);
    try (ShardStore store = openStore(third)) {
      assertThat(store.applied().index()).isEqualTo(before);
    }
    assertThat(lastPosition(third, GOOD)).isEqualTo(1);

    byte[] damaged = exchange(third, Keys.journalCounters(BAD), row);
    assertThat(damaged).isEqualTo(new byte[] {99});
    try (ShardServer shard = open(third)) {
      publish(shard, GOOD, 3);
      publish(shard, BAD, 3);
    }
    assertThat(failures).hasSize(1);
    assertThat(lastPosition(third, GOOD)).isEqualTo(3);
    assertThat(lastPosition(third, BAD)).isEqualTo(3);
  }
}
