package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.copy.CopyRequest;
import io.eventbus.journal.copy.CopySource;
import io.eventbus.journal.copy.ReplicaState;
import io.eventbus.journal.ratis.TestShards.Answer;
import io.eventbus.journal.ratis.TestShards.Read;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import io.eventbus.link.LinkPeer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Copies of a shard with one replica, which needs no other to be opened afterwards. */
@Timeout(300)
class ReplicaCopyTest {
  private static final int EVENTS = 250;
  private static final long FAST = 1L << 40;

  private final Path root;
  private final Path target;
  private final Map<String, CopySource> sources = new TreeMap<>();
  private final List<ShardStore> stores = new ArrayList<>();
  private CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final ToldEvents events = new ToldEvents();

  ReplicaCopyTest(@TempDir Path root) {
    this.root = root;
    target = root.resolve("target");
  }

  private static void fill(Path directory, long from, long to) throws IOException {
    try (ShardJournals journals = ShardJournals.open(TestShards.options(directory))) {
      if (from == 1) {
        int unused = TestShards.create(journals, TestShards.definition("orders"));
      }
      for (long i = from; i <= to; i += 10) {
        Answer answer = new Answer();
        assertThat(
                journals.append(
                    TestShards.head(1, "a", "p", i), TestShards.events(i, 10, 20_000), answer))
            .isTrue();
        TestShards.await(answer.result());
      }
    }
  }

  /** Makes a source that has many events, and a target that has few of them. */
  @BeforeEach
  void begin() throws IOException {
    fill(root.resolve("source"), 1, EVENTS);
    fill(target, 1, 20);
  }

  @AfterEach
  void end() {
    sources.values().forEach(CopySource::close);
    stores.forEach(ShardStore::close);
  }

  /** Replica whose files are those of a shard that is closed. */
  private record Closed(ShardStore store, Path files, String leader) implements CopySource.Replica {
    @Override
    public ReplicaState state() {
      return new ReplicaState(leader, true, 0, List.of("bus-a~1"), List.of());
    }

    @Override
    public CompletionStage<Void> appliedUpToNow() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public StoreLease lease() {
      return store.lease();
    }

    @Override
    public long bytes() {
      return store.bytes();
    }

    @Override
    public CopySource.Configuration configuration() throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(files.resolve("raft-meta.conf")));
      return new CopySource.Configuration(CopiedReplica.index(bytes), bytes);
    }

    @Override
    public void keepLog(String member) {}
  }

  private ShardStore offer(String member, Path directory) throws IOException {
    ShardOptions options = TestShards.options(directory);
    ShardStore store = TestShards.openStore(options);
    stores.add(store);
    sources.put(
        member,
        new CopySource(
            options.group(),
            member,
            new Closed(store, files(directory), "bus-c~1"),
            FAST,
            System::nanoTime,
            Thread::new));
    return store;
  }

  private static Path files(Path directory) {
    return directory
        .resolve("shards/1/log")
        .resolve(TestShards.options(directory).group().toString())
        .resolve("current");
  }

  /** Returns a copy whose questions pass a filter, and are counted from 0. */
  private ReplicaCopy copy(
      Path directory,
      BiFunction<CopyRequest.Kind, CompletableFuture<byte[]>, CompletableFuture<byte[]>> filter) {
    ShardOptions options = TestShards.options(directory);
    return new ReplicaCopy(
        options,
        new ReplicaCopy.Others() {
          @Override
          public Set<String> ids() {
            return sources.keySet();
          }

          @Override
          public CompletableFuture<byte[]> ask(String member, byte[] request, Duration timeout) {
            CopySource source = Objects.requireNonNull(sources.get(member), member);
            LinkPeer self = new LinkPeer("", "", "bus-a", 1, "shard-copies");
            return filter.apply(
                CopyRequest.decode(request).kind(),
                source.answer(self, request).toCompletableFuture());
          }
        },
        stopped,
        events);
  }

  private static void copyTree(Path from, Path to) {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path copy = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Checks that a shard has all events of the source, once, and takes more of them. */
  private static void assertWhole(Path directory) throws IOException {
    try (ShardJournals journals = ShardJournals.open(TestShards.options(directory))) {
      List<Read> all = TestShards.read(journals, 1, TestShards.ALL);
      assertThat(all)
          .extracting(Read::number)
          .isEqualTo(LongStream.rangeClosed(1, EVENTS).boxed().toList());
      // The producer is known, too.
      TestShards.await(TestShards.publish(journals, 1, "a", "p", EVENTS + 1, 1).result());
    }
    fill(directory, EVENTS + 2, EVENTS + 20);
    try (ShardJournals journals = ShardJournals.open(TestShards.options(directory))) {
      assertThat(Objects.requireNonNull(journals.figures(1)).lastPosition()).isEqualTo(EVENTS + 21);
    }
  }

  @Test
  @Tag("nightly")
  void aCopyThatIsCutShortAtAnyTimeBeginsAnewAndKeepsTheVote() throws Exception {
    offer("bus-b~1", root.resolve("source"));
    Path vote = files(target).resolve("raft-meta");
    byte[] voted = Files.readAllBytes(vote);
    // Who the members were when this replica last heard of it is of no importance.
    Path members = files(target).resolve("raft-meta.conf");
    Files.delete(members);
    ReplicaCopy.want(TestShards.options(target), 5);
    List<Path> images = new ArrayList<>();
    ReplicaCopy copy =
        copy(
            target,
            (kind, answer) -> {
              Path image = root.resolve("image-" + images.size());
              copyTree(target, image);
              images.add(image);
              return answer;
            });
    assertThat(copy.run()).isTrue();
    assertThat(images).hasSizeGreaterThan(6);
    assertThat(ReplicaCopy.isWanted(TestShards.options(target))).isFalse();
    // All rows are there, which nobody has taken note of.
    Path complete = root.resolve("image-complete");
    copyTree(target, complete);
    Path identity = complete.resolve("shards/1/identity");
    List<String> lines = new ArrayList<>(Files.readAllLines(identity));
    lines.set(lines.size() - 1, "copying 5");
    Files.write(identity, lines);
    images.add(complete);
    assertThat(Files.readAllBytes(vote)).isEqualTo(voted);
    assertThat(members)
        .hasSameBinaryContentAs(files(root.resolve("source")).resolve("raft-meta.conf"));
    assertWhole(target);

    for (Path image : images) {
      ShardOptions options = TestShards.options(image);
      assertThatThrownBy(() -> ShardJournals.open(options).close())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("a part of a copy");
      assertThat(Files.readAllBytes(files(image).resolve("raft-meta"))).isEqualTo(voted);
      assertThat(ReplicaCopy.isWanted(options)).as("%s", image).isTrue();
      assertThat(copy(image, (kind, answer) -> answer).run()).isTrue();
      assertWhole(image);
    }
  }

  @Test
  void aReplicaWithoutItsVoteIsNotCopied() throws Exception {
    Files.delete(files(target).resolve("raft-meta"));
    assertThatThrownBy(() -> ReplicaCopy.want(TestShards.options(target), 5))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("raft-meta: missing (expected: term and vote");
    assertThat(files(target)).isDirectoryContaining(file -> file.toString().contains("log_"));
  }

  @Test
  void aCopyHasNoFewerEntriesThanTheLogBefore() throws Exception {
    fill(root.resolve("short"), 1, 10);
    offer("bus-b~1", root.resolve("short"));
    fill(target, 21, 40);
    ReplicaCopy.want(TestShards.options(target), 1);
    List<CopyRequest.Kind> asked = new ArrayList<>();
    ReplicaCopy copy =
        copy(
            target,
            (kind, answer) -> {
              asked.add(kind);
              if (asked.size() == 4) {
                stopped.complete(null);
              }
              return answer;
            });
    assertThat(copy.run()).isFalse();
    assertThat(asked)
        .containsExactly(
            CopyRequest.Kind.STATE,
            CopyRequest.Kind.OPEN,
            CopyRequest.Kind.STATE,
            CopyRequest.Kind.OPEN);
    assertThat(copy.status().copy())
        .satisfies(
            state ->
                assertThat(Objects.requireNonNull(state).problem())
                    .contains("BUSY", "expected: up to"));
    assertThat(ReplicaCopy.isWanted(TestShards.options(target))).isTrue();
  }

  @Test
  void aCopyIsOfferedUpToTheLastEntryOfItsSource() throws Exception {
    ShardStore source = offer("bus-b~1", root.resolve("source"));
    long last = source.applied().index();
    for (int i = 0; i < 2; i++) {
      ReplicaCopy copy = copy(target, (kind, answer) -> answer);
      assertThat(copy.isOffered(last)).isTrue();
      assertThat(copy.isOffered(last + 1)).isFalse();
    }
    assertThat(ReplicaCopy.isWanted(TestShards.options(target))).isFalse();
    // Of another member, which would be refused while a copy is sent.
    LinkPeer other = new LinkPeer("", "", "bus-d", 1, "shard-copies");
    byte[] request =
        new CopyRequest(
                CopyRequest.Kind.OPEN, TestShards.options(target).group(), "bus-d~1", last, 0)
            .encode();
    byte[] head =
        TestShards.await(Objects.requireNonNull(sources.get("bus-b~1")).answer(other, request));
    assertThat(head).isNotEmpty();
  }

  @Test
  void aSourceWithADamagedRowIsLeftForAnother() throws Exception {
    copyTree(root.resolve("source"), root.resolve("damaged"));
    ShardStore damaged = offer("bus-b~1", root.resolve("damaged"));
    byte[] key = Keys.chunk(1, 201);
    byte[] chunk = TestStores.exchange(damaged, key, new byte[] {1});
    chunk[chunk.length / 2]++;
    byte[] unused = TestStores.exchange(damaged, key, chunk);
    ReplicaCopy.want(TestShards.options(target), 5);
    List<String> problems = new ArrayList<>();
    ReplicaCopy first =
        copy(
            target,
            (kind, answer) -> {
              // The second round.
              if (kind == CopyRequest.Kind.STATE && !problems.isEmpty()) {
                stopped.complete(null);
              }
              problems.add(kind.name());
              return answer;
            });
    assertThat(first.run()).isFalse();
    assertThat(Objects.requireNonNull(first.status().copy()).problem())
        .contains("bus-b~1: DAMAGED: chunk of journal 1 at position 201: CRC32C");
    assertThat(events.told()).first().isEqualTo("copying bus-b~1");
    assertThat(events.told().get(1)).startsWith("copyFailed bus-b~1: DAMAGED: ");
    events.told().clear();

    offer("bus-c~1", root.resolve("source"));
    stopped = new CompletableFuture<>();
    ReplicaCopy second = copy(target, (kind, answer) -> answer);
    assertThat(second.run()).isTrue();
    assertWhole(target);
    assertThat(events.told()).endsWith("copying bus-c~1", "copied bus-c~1");
  }

  @Test
  void aSliceThatIsChangedOnItsWayIsNoticed() throws Exception {
    offer("bus-b~1", root.resolve("source"));
    offer("bus-c~1", copied());
    ReplicaCopy.want(TestShards.options(target), 5);
    List<CopyRequest.Kind> asked = new ArrayList<>();
    ReplicaCopy copy =
        copy(
            target,
            (kind, answer) -> {
              asked.add(kind);
              return kind == CopyRequest.Kind.NEXT && asked.size() == 6
                  ? answer.thenApply(ReplicaCopyTest::changed)
                  : answer;
            });
    assertThat(copy.run()).isTrue();
    assertThat(asked.stream().filter(kind -> kind == CopyRequest.Kind.OPEN)).hasSize(2);
    assertWhole(target);
  }

  private Path copied() {
    Path copy = root.resolve("copied");
    copyTree(root.resolve("source"), copy);
    return copy;
  }

  private static byte[] changed(byte[] slice) {
    byte[] changed = slice.clone();
    changed[changed.length / 2]++;
    return changed;
  }

  @Test
  void aSliceWhoseAnswerIsLostIsAskedForAgain() throws Exception {
    offer("bus-b~1", root.resolve("source"));
    ReplicaCopy.want(TestShards.options(target), 5);
    List<CopyRequest.Kind> asked = new ArrayList<>();
    ReplicaCopy copy =
        copy(
            target,
            (kind, answer) -> {
              asked.add(kind);
              return kind == CopyRequest.Kind.NEXT && asked.size() % 2 == 0
                  ? answer.thenApply(
                      slice -> {
                        throw new UncheckedIOException(new IOException("the link has ended"));
                      })
                  : answer;
            });
    assertThat(copy.run()).isTrue();
    assertThat(asked.stream().filter(kind -> kind == CopyRequest.Kind.OPEN)).hasSize(1);
    assertWhole(target);
  }
}
