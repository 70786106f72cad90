package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.AppliedChanges.AppliedChunk;
import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Purged;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Settled;
import io.eventbus.journal.RecordResult.Taken;
import io.eventbus.journal.Retention;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.WaitingEvents;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.ratis.TestShards.Answer;
import io.eventbus.journal.ratis.TestShards.Read;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.Shard;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.state.ShardLimits;
import io.eventbus.journal.state.ShardModels;
import io.eventbus.journal.store.FlushPolicy;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.raft.repair.OfflineLogReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ShardJournalsTest {
  private static final AtomicLong SERIALS = new AtomicLong();

  private final Path directory;
  private final AtomicLong wall = new AtomicLong(1_700_000_000_000L);

  ShardJournalsTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private ShardJournals open() throws IOException {
    return ShardJournals.open(TestShards.options(directory));
  }

  @Test
  void whatIsConfirmedIsReadAtItsPositionAlsoAfterRestarts() throws IOException {
    List<Read> expected = new ArrayList<>();
    long sequence = 1;
    for (int start = 0; start < 4; start++) {
      try (ShardJournals journals = open()) {
        int journal = TestShards.create(journals, TestShards.definition("orders"));
        assertThat(journal).isEqualTo(1);
        assertThat(TestShards.read(journals, journal, TestShards.ALL)).isEqualTo(expected);
        List<Answer> answers = new ArrayList<>();
        for (int i = 0; i < 51; i++) {
          answers.add(
              TestShards.publish(journals, journal, "a." + i % 3, "p" + i % 3, sequence, 2));
          for (int k = 0; k < 2; k++) {
            expected.add(new Read(expected.size() + 1L, "a." + i % 3, sequence + k));
          }
          if (i % 3 == 2) {
            sequence += 2;
          }
        }
        for (int i = 0; i < 51; i++) {
          assertThat(TestShards.await(answers.get(i).result()))
              .isEqualTo(new Published(expected.size() - 102 + 2L * i + 2, false));
        }
        assertThat(TestShards.read(journals, journal, TestShards.ALL)).isEqualTo(expected);
        assertThat(TestShards.read(journals, journal, TopicFilter.parse("*.1")))
            .isEqualTo(expected.stream().filter(read -> read.topic().equals("a.1")).toList());
      }
    }
  }

  @Test
  void theStoreHasTheRowsThatTheRulesMakeOfTheLog() throws Exception {
    ShardOptions options =
        TestShards.withoutDuties(
            TestShards.options(directory, ShardModels.LIMITS, wall::get, FlushPolicy.DEFAULT));
    MemoryRows stored = new MemoryRows();
    int records = 0;
    for (int part = 0; part < 2; part++) {
      try (ShardJournals journals = ShardJournals.open(options)) {
        for (ByteBuffer entry : ShardModels.entries(7 + part)) {
          for (ShardRecord record : new EntryReader().read(entry).records()) {
            wall.addAndGet(1_000);
            RecordResult unused = TestShards.await(journals.shard().gate().submit(record));
            records++;
          }
        }
        if (part == 1) {
          copy(journals, stored);
        }
      }
    }
    assertThat(records).isGreaterThan(100);
    assertThat(ShardModels.text(stored)).isEqualTo(ShardModels.text(replayed(options)));
  }

  private static void copy(ShardJournals journals, MemoryRows copy) {
    try (StoreLease lease = journals.shard().store().lease();
        RowScan scan = lease.scan(new byte[] {Keys.META + 1}, new byte[] {Byte.MAX_VALUE})) {
      while (scan.next()) {
        copy.put(scan.key(), scan.value());
      }
    }
    copy.commit();
  }

  /** Returns the rows that the rules make of the files of the log. */
  private MemoryRows replayed(ShardOptions options) throws IOException {
    Shard shard = new Shard(options.tuning().limits(), 0, true);
    Path log = directory.resolve("shards/1/log").resolve(options.group().toString());
    MemoryRows rows = new MemoryRows();
    return OfflineLogReader.read(
            log,
            rows,
            new OfflineLogReader.Replay<MemoryRows>() {
              @Override
              public MemoryRows read(SingleFileSnapshotInfo snapshot) {
                throw new AssertionError("a snapshot file: " + snapshot);
              }

              @Override
              public MemoryRows apply(MemoryRows state, ByteBuffer entry) throws IOException {
                try {
                  Object unused = shard.apply(new EntryReader().read(entry), state);
                } catch (EntryFormatException e) {
                  throw new IOException(e);
                }
                state.commit();
                return state;
              }
            })
        .state();
  }

  @Test
  void afterAFailureOfTheStoreTheShardIsOpenedAnewAndNothingIsTwice() throws Exception {
    try (ShardJournals journals = open()) {
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      TestShards.await(TestShards.publish(journals, journal, "a", "p", 1, 1).result());
      CountDownLatch applying = new CountDownLatch(1);
      CountDownLatch failed = new CountDownLatch(1);
      Journals.Watch watch =
          journals.watch(
              changes -> {
                applying.countDown();
                awaitLatch(failed);
              });
      Answer unused = TestShards.publish(journals, journal, "a", "p", 2, 1);
      awaitLatch(applying);
      // Committed in the log, while the store fails.
      Answer third = TestShards.publish(journals, journal, "a", "p", 3, 1);
      TestStores.fail(journals.shard().store());
      failed.countDown();
      watch.close();
      assertThatThrownBy(() -> third.result().get(30, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(JournalsUnavailableException.class);

      for (long sequence = 2; sequence <= 3; sequence++) {
        assertThat(repeat(journals, journal, sequence))
            .isInstanceOfSatisfying(
                Published.class, again -> assertThat(again.position()).isBetween(2L, 3L));
      }
      assertThat(TestShards.await(TestShards.publish(journals, journal, "a", "p", 4, 1).result()))
          .isEqualTo(new Published(4, false));
      assertThat(TestShards.read(journals, journal, TestShards.ALL))
          .isEqualTo(
              LongStream.rangeClosed(1, 4).mapToObj(each -> new Read(each, "a", each)).toList());
    }
  }

  @Test
  void aShardThatFailsWhileItIsReadIsOpenedAnewWhenItsReaderHasEnded() throws Exception {
    try (ShardJournals journals = open()) {
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      TestShards.await(TestShards.publish(journals, journal, "a", "p", 1, 1).result());
      ShardStore store = journals.shard().store();
      try (StoreLease lease = store.lease()) {
        assertThat(lease).isNotNull();
        TestStores.fail(store);
        TestReplicas.until("the shard is being closed", () -> TestStores.isClosing(store));
        // Waits for the end of the attempt that is under way.
        assertThat(store.close(Duration.ofMillis(1))).isFalse();
        ShardOptions options = TestShards.options(directory);
        assertThatThrownBy(() -> ReplicaCopy.want(options, 1))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("in use");
      }
      assertThat(repeat(journals, journal, 2)).isEqualTo(new Published(2, false));
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Publishes until it is answered, as a publisher does that knows no outcome. */
  private static RecordResult repeat(Journals journals, int journal, long sequence)
      throws Exception {
    long begun = System.nanoTime();
    while (true) {
      CompletableFuture<RecordResult> result =
          TestShards.publish(journals, journal, "a", "p", sequence, 1).result();
      try {
        return result.get(30, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        assertThat(System.nanoTime() - begun).isLessThan(Duration.ofSeconds(30).toNanos());
        Thread.sleep(5);
      }
    }
  }

  @Test
  void anEntryThatCannotBeReadEndsTheShardAndIsTold() throws Exception {
    BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    ShardServer.Observer observer =
        new ShardServer.Observer() {
          @Override
          public void onApplied(JournalCatalog catalog, ShardChanges changes, boolean leads) {}

          @Override
          public void onFailure(Throwable cause) {
            failures.add(cause);
          }
        };
    try (ShardServer shard = TestShards.open(TestShards.options(directory), observer)) {
      CompletableFuture<List<RecordResult>> answer = shard.append(new byte[] {9, 9, 9});
      assertThat(failures.poll(30, TimeUnit.SECONDS)).hasMessageContaining("size");
      assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS)).isNotNull();
    }
    assertThat(failures).as("told once").isEmpty();
    assertThatThrownBy(() -> TestShards.open(TestShards.options(directory), observer))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("failed while it applied its log");
    assertThat(failures).hasSize(1);
  }

  @Test
  void theLogIsCutBehindWhatTheStoreHasOnItsDisk() throws Exception {
    ShardOptions options =
        TestShards.options(
            directory,
            ShardLimits.DEFAULT,
            wall::get,
            new FlushPolicy(1 << 20, Duration.ofDays(1)));
    Path log =
        directory.resolve("shards/1/log").resolve(options.group().toString()).resolve("current");
    try (ShardJournals journals = ShardJournals.open(options)) {
      int journal =
          TestShards.create(
              journals, TestShards.definition("orders", new Retention(0, 1 << 20, 0)));
      long begun = System.nanoTime();
      long sequence = 1;
      // Closed files of the log go as soon as nobody needs them.
      while (Files.exists(log.resolve("log_inprogress_0")) || hasFirst(log)) {
        Answer answer = new Answer();
        assertThat(
                journals.append(
                    TestShards.head(journal, "a", "p", sequence),
                    TestShards.events(sequence, 10, 20_000),
                    answer))
            .isTrue();
        assertThat(TestShards.await(answer.result())).isInstanceOf(Published.class);
        sequence += 10;
        assertThat(System.nanoTime() - begun).isLessThan(Duration.ofSeconds(60).toNanos());
      }
    }
    try (ShardJournals journals = ShardJournals.open(options)) {
      assertThat(Objects.requireNonNull(journals.figures(1)).lastPosition()).isPositive();
    }
  }

  private static boolean hasFirst(Path log) throws IOException {
    try (Stream<Path> files = Files.list(log)) {
      return files.anyMatch(file -> file.getFileName().toString().startsWith("log_0-"));
    }
  }

  @Test
  void journalsAreCreatedChangedAndDeleted() throws Exception {
    long creation;
    try (ShardJournals journals = open()) {
      JournalDefinition first = TestShards.definition("first");
      assertThat(TestShards.await(journals.create(first))).isEqualTo(new JournalCreated(1));
      assertThat(TestShards.await(journals.create(TestShards.definition("second"))))
          .isEqualTo(new JournalCreated(2));
      assertThat(
              TestShards.await(
                  journals.create(TestShards.definition("first", new Retention(1, 2, 3)))))
          .isInstanceOf(Refused.class);
      JournalDefinition changed = TestShards.definition("first", new Retention(0, 0, 100));
      creation = creation(journals, "first");
      assertThat(TestShards.await(journals.create(first))).isEqualTo(new JournalCreated(1));
      assertThat(TestShards.await(journals.change(1, changed))).isEqualTo(new Done());
      assertThat(TestShards.await(journals.delete(2))).isEqualTo(new Done());
      JournalCatalog.Item only = new JournalCatalog.Item(1, changed, creation);
      assertThat(journals.catalog().all()).containsExactly(only);
      assertThat(journals.catalog().route("any")).isEqualTo(only);
      assertThat(journals.figures(2)).isNull();
      assertThat(journals.reader(2, TestShards.ALL).read(1, 1)).isNull();
    }
    try (ShardJournals journals = open()) {
      assertThat(creation(journals, "first")).isEqualTo(creation);
      assertThat(journals.catalog().find(2)).isNull();
      assertThat(TestShards.await(journals.delete(1))).isEqualTo(new Done());
      int unused = TestShards.create(journals, TestShards.definition("first"));
      assertThat(creation(journals, "first")).isNotEqualTo(creation).isPositive();
    }
  }

  private static long creation(Journals journals, String name) {
    return Objects.requireNonNull(journals.catalog().find(name)).creation();
  }

  @Test
  void cursorsAreSettledAndListed() throws Exception {
    try (ShardJournals journals = open()) {
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      TestShards.await(TestShards.publish(journals, journal, "a", "p", 1, 9).result());
      for (String name : List.of("c", "a", "b")) {
        assertThat(
                TestShards.await(
                    journals.createCursor(
                        journal, name, TestShards.ALL, CursorMode.EXCLUSIVE, CursorStart.FIRST, 0)))
            .isInstanceOf(CursorState.class);
      }
      CursorState attached =
          (CursorState) TestShards.await(journals.attachCursor(journal, "b", "one", 0));
      assertThat(TestShards.await(journals.settleCursor(journal, "b", attached.epoch(), 7)))
          .isEqualTo(new CursorState(attached.epoch(), 7));
      assertThat(journals.cursors(journal, "", 10))
          .extracting(CursorView::name)
          .containsExactly("a", "b", "c");
      assertThat(journals.cursors(journal, "a", 1))
          .singleElement()
          .satisfies(
              cursor -> {
                assertThat(cursor.floor()).isEqualTo(7);
                assertThat(cursor.owner()).isEqualTo("one");
              });
      assertThat(TestShards.await(journals.detachCursor(journal, "b", attached.epoch())))
          .isEqualTo(new CursorState(attached.epoch(), 7));
      assertThat(Objects.requireNonNull(journals.cursor(journal, "b")).owner()).isEmpty();
      assertThat(TestShards.await(journals.deleteCursor(journal, "b", 0))).isEqualTo(new Done());
      assertThat(journals.cursors(journal, "a", 9)).hasSize(1);
    }
  }

  @Test
  void whatConsumersOfASharedCursorHaveIsThereAfterARestart() throws Exception {
    int journal;
    long one;
    long two;
    List<AppliedChanges> told = new ArrayList<>();
    try (ShardJournals journals = open()) {
      journal = TestShards.create(journals, TestShards.definition("orders"));
      TestShards.await(TestShards.publish(journals, journal, "a", "p", 1, 20).result());
      assertThat(
              TestShards.await(
                  journals.createCursor(
                      journal, "jobs", TestShards.ALL, CursorMode.SHARED, CursorStart.FIRST, 0)))
          .isInstanceOf(CursorState.class);
      one = join(journals, journal, "bus-1");
      two = join(journals, journal, "bus-2");
      assertThat(take(journals, journal, one)).containsExactly(new TakenRun(1, 5, 1));
      assertThat(take(journals, journal, two)).containsExactly(new TakenRun(6, 9, 1));
      try (Journals.Watch watch = journals.watch(changes -> add(told, changes))) {
        assertThat(watch).isNotNull();
        assertThat(
                TestShards.await(
                    journals.settleEvents(
                        journal,
                        "jobs",
                        one,
                        1,
                        List.of(
                            new Settlement(1, 2, 1, Outcome.DONE, -1, ""),
                            new Settlement(3, 3, 1, Outcome.REJECT, -1, "wrong"),
                            new Settlement(4, 4, 1, Outcome.RETRY, 0, ""),
                            new Settlement(9, 9, 1, Outcome.DONE, -1, "")))))
            .isEqualTo(new Settled(1));
        assertThat(TestShards.await(journals.leaveCursor(journal, "jobs", 99, true)))
            .isEqualTo(new Done());
      }
    }
    assertThat(told).singleElement().satisfies(c -> assertThat(c.released()).containsExactly(1));

    try (ShardJournals journals = open()) {
      CursorView view = Objects.requireNonNull(journals.cursor(journal, "jobs"));
      assertThat(view)
          .isEqualTo(
              new CursorView(
                  "jobs",
                  TestShards.ALL,
                  CursorMode.SHARED,
                  2,
                  two,
                  "",
                  view.stamp(),
                  9,
                  2,
                  5,
                  1,
                  1,
                  Objects.requireNonNull(journals.figures(journal)).lastPosition() - 9 + 5 + 1,
                  view.oldestStamp()));
      assertThat(view.oldestStamp()).isBetween(1L, view.stamp());
      assertThat(journals.cursors(journal, "", 9)).containsExactly(view);
      assertThat(journals.maxLag(journal, 9)).isEqualTo(view.lag());
      assertThat(journals.waiting(journal, "jobs", 0, 0, 9))
          .containsExactly(new WaitingEvents(view.stamp(), 4, 4, 2));
      assertThat(journals.waiting(journal, "jobs", view.stamp(), 4, 9)).isEmpty();
      assertThat(journals.consumers(journal, "jobs", 0, 9))
          .containsExactly(
              new ConsumerView(one, "bus-1", 1, 5), new ConsumerView(two, "bus-2", 4, 6));
      assertThat(journals.consumers(journal, "jobs", one, 9)).hasSize(1);
      assertThat(journals.consumers(journal, "jobs", 0, 1)).hasSize(1);
      assertThat(journals.consumers(journal, "none", 0, 9)).isEmpty();
      assertThat(journals.deadEvents(journal, "jobs", 0, 9))
          .containsExactly(new DeadEvent(3, 1, "wrong", view.stamp()));
      assertThat(journals.deadEvents(journal, "jobs", 3, 9)).isEmpty();

      assertThat(TestShards.await(journals.redrive(journal, "jobs", 1, 9, false)))
          .isEqualTo(new Redriven(1, 0));
      assertThat(TestShards.await(journals.leaveCursor(journal, "jobs", one, true)))
          .isEqualTo(new Done());
      List<TakenRun> runs = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        runs.addAll(take(journals, journal, two, 1));
      }
      assertThat(runs)
          .containsExactlyInAnyOrder(
              new TakenRun(3, 3, 1), new TakenRun(4, 4, 2), new TakenRun(5, 5, 2));
      assertThat(take(journals, journal, two, 1)).containsExactly(new TakenRun(10, 10, 1));
      List<Settlement> tooMany =
          Collections.nCopies(1_025, new Settlement(1, 1, 1, Outcome.DONE, -1, ""));
      assertThatThrownBy(() -> journals.settleEvents(journal, "jobs", two, 9, tooMany))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("SettleEvents.settlements: 1025 ");
      assertThat(TestShards.await(journals.deleteCursor(journal, "jobs", 0))).isEqualTo(new Done());
      assertThat(journals.consumers(journal, "jobs", 0, 9)).isEmpty();
    }
  }

  private static long join(Journals journals, int journal, String owner) {
    return ((CursorState) TestShards.await(journals.joinCursor(journal, "jobs", owner, 5))).epoch();
  }

  private static List<TakenRun> take(Journals journals, int journal, long epoch) {
    return take(journals, journal, epoch, 100);
  }

  private static List<TakenRun> take(Journals journals, int journal, long epoch, int max) {
    return ((Taken)
            TestShards.await(
                journals.takeEvents(journal, "jobs", epoch, SERIALS.incrementAndGet(), max)))
        .runs();
  }

  @Test
  void aWatchIsToldOfEachEntryWithItsChunks() throws Exception {
    List<AppliedChanges> told = new ArrayList<>();
    try (ShardJournals journals = open()) {
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      try (Journals.Watch watch = journals.watch(changes -> add(told, changes))) {
        assertThat(watch).isNotNull();
        for (int i = 1; i <= 5; i++) {
          TestShards.await(TestShards.publish(journals, journal, "a", "p", i, 1).result());
        }
        assertThat(TestShards.await(journals.purge(journal, "", 2, 2))).isEqualTo(new Purged(1, 0));
      }
      TestShards.await(TestShards.publish(journals, journal, "a", "p", 6, 1).result());
    }
    assertThat(told).hasSize(6);
    for (int i = 1; i <= 5; i++) {
      AppliedChunk chunk = told.get(i - 1).chunks().get(0);
      assertThat(chunk.from()).isEqualTo(i);
      assertThat(chunk.to()).isEqualTo(i);
      assertThat(chunk.bytes().isReadOnly()).isTrue();
      assertThat(told.get(i - 1).journals()).containsExactly(1);
    }
    assertThat(told.get(5).chunks().get(0).from()).isEqualTo(2);
  }

  /** Adds what is told, but the entries that come of the leader's duties. */
  private static void add(List<AppliedChanges> told, AppliedChanges changes) {
    if (!changes.journals().isEmpty()) {
      told.add(changes);
    }
  }

  @Test
  void figuresAndPositionsAreRead() throws Exception {
    try (ShardJournals journals =
        ShardJournals.open(TestShards.options(directory, ShardLimits.DEFAULT, wall::get))) {
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      TestShards.await(TestShards.publish(journals, journal, "a", "p", 1, 3).result());
      wall.addAndGet(60_000);
      TestShards.await(TestShards.publish(journals, journal, "b", "p", 1, 2).result());
      JournalFigures figures = Objects.requireNonNull(journals.figures(journal));
      assertThat(figures.firstPosition()).isEqualTo(1);
      assertThat(figures.lastPosition()).isEqualTo(5);
      assertThat(figures.events()).isEqualTo(5);
      assertThat(figures.topics()).isEqualTo(2);
      assertThat(figures.stamp()).isEqualTo(wall.get());
      assertThat(journals.positionAt(journal, wall.get() - 1)).isEqualTo(4);
      assertThat(journals.positionAt(journal, wall.get() + 1)).isEqualTo(6);
      assertThat(journals.positionAt(99, 0)).isZero();
    }
  }

  @Test
  void whatIsClosedAnswersNobody() throws Exception {
    ShardJournals journals = open();
    int journal = TestShards.create(journals, TestShards.definition("orders"));
    journals.close();
    assertThat(TestShards.publish(journals, journal, "a", "p", 1, 1).result())
        .isCompletedExceptionally();
    assertThat(journals.delete(journal).toCompletableFuture()).isCompletedExceptionally();
    assertThatThrownBy(() -> journals.figures(journal))
        .isInstanceOf(JournalsUnavailableException.class)
        .hasMessageContaining("closed");
  }
}
