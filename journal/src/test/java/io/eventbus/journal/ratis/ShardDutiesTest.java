package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Settled;
import io.eventbus.journal.Retention;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.ratis.TestShards.Answer;
import io.eventbus.journal.ratis.TestShards.Read;
import io.eventbus.journal.read.JournalPositions;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.state.ShardLimits;
import io.eventbus.journal.store.FlushPolicy;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Periodic work of the leader of a shard, done when its time has come and not before. */
@Timeout(120)
class ShardDutiesTest {
  private static final long MINUTE = 60_000;

  private final Path directory;
  private final AtomicLong wall = new AtomicLong(1_700_000_000_000L);

  ShardDutiesTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private ShardJournals open() throws IOException {
    return ShardJournals.open(TestShards.options(directory, ShardLimits.DEFAULT, wall::get));
  }

  /** Waits until the figures of journal 1 are as they should be. */
  private static JournalFigures await(ShardJournals journals, Predicate<JournalFigures> wanted)
      throws InterruptedException {
    long begun = System.nanoTime();
    while (true) {
      JournalFigures figures = Objects.requireNonNull(journals.figures(1));
      if (wanted.test(figures)) {
        return figures;
      }
      assertThat(System.nanoTime() - begun)
          .as("%s", figures)
          .isLessThan(Duration.ofSeconds(30).toNanos());
      Thread.sleep(5);
    }
  }

  private static Published publish(
      ShardJournals journals, long sequence, int bytes, long delayMillis) {
    PublishHead head = TestEntries.head(1, "a", "p", sequence, sequence - 1, 0, 0, delayMillis);
    Answer answer = new Answer();
    assertThat(journals.append(head, TestShards.events(sequence, 1, bytes), answer)).isTrue();
    return (Published) TestShards.await(answer.result());
  }

  @Test
  void delayedEventsGetTheirPositionsWhenTheirTimeHasCome() throws Exception {
    try (ShardJournals journals = open()) {
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      assertThat(publish(journals, 1, 20, 5_000)).isEqualTo(new Published(0, false));
      assertThat(publish(journals, 2, 20, 3_000)).isEqualTo(new Published(0, false));
      assertThat(publish(journals, 3, 20, 0)).isEqualTo(new Published(1, false));
      wall.addAndGet(3_000);
      assertThat(await(journals, figures -> figures.delayed() < 2).lastPosition()).isEqualTo(2);
      assertThat(TestShards.read(journals, journal, TestShards.ALL))
          .isEqualTo(List.of(new Read(1, "a", 3), new Read(2, "a", 2)));
    }
    wall.addAndGet(2_000);
    try (ShardJournals journals = open()) {
      await(journals, figures -> figures.delayed() == 0);
      assertThat(TestShards.read(journals, 1, TestShards.ALL))
          .isEqualTo(List.of(new Read(1, "a", 3), new Read(2, "a", 2), new Read(3, "a", 1)));
    }
  }

  @Test
  void whatIsTooManyIsTrimmed() throws Exception {
    try (ShardJournals journals = open()) {
      TestShards.create(journals, TestShards.definition("orders", new Retention(0, 0, 10)));
      for (int i = 1; i <= 25; i++) {
        publish(journals, i, 20, 0);
      }
      wall.addAndGet(2_000);
      JournalFigures figures = await(journals, now -> now.events() <= 10);
      assertThat(figures.events()).isEqualTo(10);
      assertThat(figures.firstPosition()).isEqualTo(16);
    }
  }

  @Test
  void whatIsTooManyIsTrimmedInAJournalOfLastEvents() throws Exception {
    try (ShardJournals journals = open()) {
      TestShards.create(
          journals,
          new JournalDefinition(
              "prices",
              List.of(TestShards.ALL),
              KeepPolicy.LATEST,
              new Retention(0, 0, 3),
              FullPolicy.DROP_OLD));
      for (int i = 1; i <= 8; i++) {
        TestShards.await(TestShards.publish(journals, 1, "t." + i, "p", 1, 1).result());
      }
      wall.addAndGet(2_000);
      JournalFigures figures = await(journals, now -> now.events() <= 3);
      assertThat(figures.events()).isEqualTo(3);
      assertThat(TestShards.read(journals, 1, TestShards.ALL))
          .extracting(Read::topic)
          .containsExactly("t.6", "t.7", "t.8");
    }
  }

  @Test
  void whatIsTooOldIsTrimmed() throws Exception {
    try (ShardJournals journals = open()) {
      TestShards.create(
          journals, TestShards.definition("orders", new Retention(10 * MINUTE, 0, 0)));
      publish(journals, 1, 20, 0);
      wall.addAndGet(6 * MINUTE);
      publish(journals, 2, 20, 0);
      wall.addAndGet(5 * MINUTE);
      assertThat(await(journals, figures -> figures.events() < 2).firstPosition()).isEqualTo(2);
    }
  }

  @Test
  void timeGoesOnWithoutPublishers() throws Exception {
    try (ShardJournals journals = open()) {
      TestShards.create(journals, TestShards.definition("orders"));
      publish(journals, 1, 20, 0);
      wall.addAndGet(MINUTE);
      assertThat(await(journals, figures -> figures.stamp() == wall.get()).events()).isEqualTo(1);
    }
  }

  @Test
  void producersThatWereNotHeardForAWeekAreForgotten() throws Exception {
    try (ShardJournals journals = open()) {
      TestShards.create(journals, TestShards.definition("orders"));
      publish(journals, 1, 20, 0);
    }
    // A clock that has gone on while nobody ran is believed.
    wall.addAndGet(ShardDuties.PRODUCER_IDLE_MILLIS + MINUTE);
    try (ShardJournals journals = open()) {
      assertThat(await(journals, figures -> figures.producers() == 0).events()).isEqualTo(1);
    }
  }

  @Test
  void cursorsThatWereNotUsedForAWeekAreDeletedAnHourAfterAStart() throws Exception {
    try (ShardJournals journals = open()) {
      TestShards.create(journals, TestShards.definition("orders"));
      publish(journals, 1, 20, 0);
      for (String name : List.of("gone", "back", "busy")) {
        createCursor(journals, name);
      }
      wall.addAndGet(MINUTE);
      assertThat(TestShards.await(journals.settleCursor(1, "busy", 3, 1)))
          .isEqualTo(new CursorState(3, 1));
    }
    wall.addAndGet(ShardDuties.CURSOR_IDLE_MILLIS - 30 * MINUTE);
    try (ShardJournals journals = open()) {
      wall.addAndGet(59 * MINUTE);
      publish(journals, 2, 20, 0);
      assertThat(journals.cursors(1, "", 9)).hasSize(3);
      RecordResult unused = TestShards.await(journals.attachCursor(1, "back", "one", 0));
      // Settled again at the same position.
      unused = TestShards.await(journals.settleCursor(1, "busy", 3, 1));
      wall.addAndGet(2 * MINUTE);
      await(journals, figures -> figures.cursors() == 2);
      assertThat(journals.cursors(1, "", 9))
          .extracting(CursorView::name)
          .containsExactly("back", "busy");
    }
  }

  @Test
  void aSharedCursorIsKeptAsLongAsAConsumerUsesIt() throws Exception {
    long busy;
    try (ShardJournals journals = open()) {
      TestShards.create(journals, TestShards.definition("orders"));
      busy = join(journals, "busy");
      long unused = join(journals, "gone");
    }
    wall.addAndGet(ShardDuties.CURSOR_IDLE_MILLIS);
    try (ShardJournals journals = open()) {
      // A jump of more than an hour would not be believed.
      wall.addAndGet(59 * MINUTE);
      publish(journals, 1, 20, 0);
      assertThat(TestShards.await(journals.settleEvents(1, "busy", busy, 0, List.of())))
          .isEqualTo(new Settled(0));
      wall.addAndGet(2 * MINUTE);
      await(journals, figures -> figures.cursors() == 1);
      assertThat(journals.cursors(1, "", 9)).extracting(CursorView::name).containsExactly("busy");
    }
  }

  /** Creates a shared cursor with a consumer, and returns the epoch of that. */
  private static long join(ShardJournals journals, String name) {
    assertThat(
            TestShards.await(
                journals.createCursor(
                    1, name, TestShards.ALL, CursorMode.SHARED, CursorStart.FIRST, 0)))
        .isInstanceOf(CursorState.class);
    return ((CursorState) TestShards.await(journals.joinCursor(1, name, "bus-1", 5))).epoch();
  }

  private static void createCursor(ShardJournals journals, String name) {
    assertThat(
            TestShards.await(
                journals.createCursor(
                    1, name, TestShards.ALL, CursorMode.EXCLUSIVE, CursorStart.FIRST, 0)))
        .isInstanceOf(CursorState.class);
  }

  private void damage(byte[]... keys) throws IOException {
    try (ShardStore store = TestShards.openStore(TestShards.options(directory))) {
      for (byte[] key : keys) {
        byte[] unused = TestStores.exchange(store, key, new byte[] {99});
      }
    }
  }

  @Test
  void retentionGoesOnPastDamagedRows() throws Exception {
    try (ShardJournals journals = open()) {
      TestShards.create(journals, TestShards.definition("orders"));
      for (int i = 1; i <= 25; i++) {
        publish(journals, i, 20, 0);
      }
    }
    // An index that can be made anew, and a chunk of which nothing can be read.
    damage(Keys.chunkIndex(1, 1), Keys.chunkIndex(1, 3), Keys.chunk(1, 3));
    ToldEvents events = new ToldEvents();
    try (ShardJournals journals = open()) {
      journals.listen(events);
      RecordResult unused =
          TestShards.await(
              journals.change(1, TestShards.definition("orders", new Retention(0, 0, 10))));
      publish(journals, 26, 20, 0);
      wall.addAndGet(2_000);
      assertThat(await(journals, figures -> figures.firstPosition() > 3).lastPosition())
          .isEqualTo(26);
      assertThat(TestShards.read(journals, 1, TestShards.ALL))
          .extracting(Read::position)
          .endsWith(24L, 25L, 26L);
    }
    assertThat(events.told()).singleElement().asString().startsWith("damaged orders ");
  }

  @Test
  void aDamagedJournalKeepsNoOtherFromItsDuties() throws Exception {
    try (ShardJournals journals = open()) {
      for (String name : List.of("damaged", "orders")) {
        TestShards.create(journals, TestShards.definition(name, new Retention(0, 0, 10)));
      }
      for (int i = 1; i <= 25; i++) {
        TestShards.await(TestShards.publish(journals, 2, "a", "p", i, 1).result());
      }
    }
    damage(Keys.journalCounters(1));
    wall.addAndGet(2_000);
    try (ShardJournals journals = open()) {
      // Duties begin with the first look of this start, or with the next.
      wall.addAndGet(2 * MINUTE);
      long begun = System.nanoTime();
      while (Objects.requireNonNull(journals.figures(2)).events() > 10) {
        assertThat(System.nanoTime() - begun).isLessThan(Duration.ofSeconds(30).toNanos());
        Thread.sleep(5);
      }
    }
  }

  @Test
  void aReleaseThatFailsIsTriedAgainAndHoldsUpNoOtherDuty() throws Exception {
    ShardServer.Observer observer =
        new ShardServer.Observer() {
          @Override
          public void onApplied(JournalCatalog catalog, ShardChanges changes, boolean leads) {}

          @Override
          public void onFailure(Throwable cause) {}
        };
    ShardOptions options =
        TestShards.withoutDuties(
            TestShards.options(directory, ShardLimits.DEFAULT, wall::get, FlushPolicy.DEFAULT));
    try (ShardServer shard = TestShards.open(options, observer)) {
      RecordResult unused =
          TestShards.await(
              shard
                  .gate()
                  .submit(
                      new CreateJournal(
                          TestShards.definition("orders", new Retention(0, 0, 10)), 0)));
      for (int i = 1; i <= 25; i++) {
        Answer answer = new Answer();
        PublishHead head = TestEntries.head(1, "a", "p", i, i - 1, 0, 0, i == 25 ? 5_000 : 0);
        assertThat(shard.gate().append(head, TestShards.events(i, 1, 20), answer)).isTrue();
        unused = TestShards.await(answer.result());
      }
      List<String> asked = new ArrayList<>();
      ShardDuties duties =
          new ShardDuties(
              shard.store(),
              record -> {
                asked.add(record.getClass().getSimpleName());
                return asked.equals(List.of("Release"))
                    ? CompletableFuture.failedFuture(new JournalsUnavailableException("planted"))
                    : shard.gate().submit(record);
              },
              shard::catalog,
              new ShardClock(wall.get(), wall::get, System::nanoTime),
              (journal, problem) -> {});
      duties.begin();
      wall.addAndGet(5_000);
      assertThatThrownBy(duties::perform)
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("planted");
      assertThat(asked).startsWith("Release", "Trim");
      asked.clear();
      asked.add("again");
      duties.perform();
      assertThat(asked).startsWith("again", "Release");
      asked.clear();
      duties.perform();
      assertThat(asked).as("done").isEmpty();
      try (StoreLease rows = shard.store().lease()) {
        assertThat(Objects.requireNonNull(JournalPositions.counters(rows, 1)).delayed()).isZero();
      }
    }
  }
}
