package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.RecordResult.ProducersExpired;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.Retention;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.AttachCursor;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.DetachCursor;
import io.eventbus.journal.codec.ShardRecord.ExpireProducers;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.protocol.TopicFilter;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class JournalRulesTest {
  private static final TopicFilter FILTER = TopicFilter.parse("a.>");

  private final ShardFixture shard =
      new ShardFixture(ShardFixture.SMALL, new MemoryRows(), Shard.CACHE_BYTES);
  private long stamp = 1_000;

  private RecordResult apply(ShardRecord record) {
    return shard.apply(stamp, List.of(record)).get(0);
  }

  private RecordResult create(String name, String filter, KeepPolicy keep) {
    return apply(new CreateJournal(ShardFixture.definition(name, filter, keep), 0));
  }

  private void publish(int journal, String topic, long first, int count, long delay) {
    assertThat(
            apply(
                new Publish(
                    TestEntries.head(journal, topic, "p", first, first - 1, 0, 0, delay),
                    TestEntries.numbered(first, count, 5))))
        .isInstanceOf(Published.class);
  }

  private static void refused(RecordResult result, JournalRefusalReason reason) {
    assertThat(result).isInstanceOf(Refused.class);
    assertThat(((Refused) result).reason()).as(result.toString()).isEqualTo(reason);
    assertThat(((Refused) result).message()).contains(": ", "(expected: ");
  }

  @Test
  void aJournalGetsANumberThatNoOtherEverGets() {
    assertThat(create("one", "a.>", KeepPolicy.ALL)).isEqualTo(new JournalCreated(1));
    assertThat(create("two", "b.>", KeepPolicy.ALL)).isEqualTo(new JournalCreated(2));
    assertThat(create("two", "b.>", KeepPolicy.ALL)).isEqualTo(new JournalCreated(2));
    refused(create("two", "c.>", KeepPolicy.ALL), JournalRefusalReason.JOURNAL_EXISTS);
    assertThat(apply(new DeleteJournal(2))).isEqualTo(new Done());
    refused(apply(new DeleteJournal(2)), JournalRefusalReason.NO_JOURNAL);
    assertThat(create("two", "c.>", KeepPolicy.ALL)).isEqualTo(new JournalCreated(3));
    assertThat(create("three", "d.>", KeepPolicy.ALL)).isEqualTo(new JournalCreated(4));
    refused(create("four", "e.>", KeepPolicy.ALL), JournalRefusalReason.STORE_FULL);
  }

  @Test
  void aChangeKeepsNameAndKindAndIsStored() {
    apply(new CreateJournal(ShardFixture.definition("one", "a.>", KeepPolicy.ALL), 17));
    apply(new CreateJournal(ShardFixture.definition("one", "a.>", KeepPolicy.ALL), 18));
    refused(
        apply(new ChangeJournal(1, ShardFixture.definition("two", "a.>", KeepPolicy.ALL))),
        JournalRefusalReason.NOT_CHANGEABLE);
    refused(
        apply(new ChangeJournal(1, ShardFixture.definition("one", "a.>", KeepPolicy.LATEST))),
        JournalRefusalReason.NOT_CHANGEABLE);
    refused(
        apply(new ChangeJournal(7, ShardFixture.definition("one", "a.>", KeepPolicy.ALL))),
        JournalRefusalReason.NO_JOURNAL);
    var changed =
        ShardFixture.definition(
            "one", "b.*", KeepPolicy.ALL, new Retention(1, 2, 3), FullPolicy.REFUSE);
    assertThat(apply(new ChangeJournal(1, changed))).isEqualTo(new Done());

    assertThat(DefinitionRow.decode(Objects.requireNonNull(shard.rows.get(Keys.journal(1)))))
        .isEqualTo(new DefinitionRow(changed, 17));
  }

  @Test
  void withAJournalEverythingOfItGoesAndNothingOfOthers() {
    create("one", "a.>", KeepPolicy.ALL);
    publish(1, "a.x", 1, 2, 0);
    publish(1, "a.x", 3, 1, 9);
    apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0));
    List<String> before = ShardFixture.text(shard.rows);
    create("two", "b.>", KeepPolicy.ALL);
    publish(2, "b.x", 1, 2, 0);
    publish(2, "b.y", 1, 2, 900);
    apply(new CreateCursor(2, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0));
    create("three", "c.>", KeepPolicy.LATEST);
    publish(3, "c.x", 1, 2, 0);
    apply(new DeleteJournal(2));
    apply(new DeleteJournal(3));

    // The counters of the shard, and what is found and removed when producers are forgotten.
    assertThat(ShardFixture.text(shard.rows)).containsAll(before.subList(0, before.size() - 2));
    assertThat(shard.count(Keys.PRODUCER_IDLE)).isEqualTo(4);
    assertThat(shard.rows.all()).hasSize(before.size() + 3);
    ShardCounters counters = ShardContext.readCounters(shard.rows);
    assertThat(counters.producers).isEqualTo(1);
    assertThat(counters.delayed).isEqualTo(1);
    assertThat(counters.journals).isEqualTo(1);

    stamp += 2 * ShardLimits.MIN_PRODUCER_IDLE_MILLIS;
    assertThat(apply(new ExpireProducers(stamp))).isEqualTo(new ProducersExpired(1, true));
    assertThat(shard.count(Keys.PRODUCER_IDLE)).isZero();
  }

  @Test
  void aCursorStartsWhereItIsTold() {
    create("one", "a.>", KeepPolicy.ALL);
    publish(1, "a.x", 1, 4, 0);
    publish(1, "a.x", 5, 2, 0);
    apply(new Trim(1, 4));

    assertThat(start("a", CursorStart.NEW, 0)).isEqualTo(6);
    assertThat(start("b", CursorStart.FIRST, 0)).isEqualTo(4);
    assertThat(start("c", CursorStart.POSITION, 6)).isEqualTo(5);
    assertThat(start("d", CursorStart.POSITION, 2)).isEqualTo(4);
    assertThat(start("e", CursorStart.POSITION, 7)).isEqualTo(6);
    refused(
        apply(new CreateCursor(1, "f", FILTER, CursorMode.EXCLUSIVE, CursorStart.POSITION, 8)),
        JournalRefusalReason.NO_POSITION);
  }

  private long start(String name, CursorStart start, long position) {
    RecordResult result =
        apply(new CreateCursor(1, name, FILTER, CursorMode.EXCLUSIVE, start, position));
    apply(new DeleteCursor(1, name, 0));
    return ((CursorState) result).floor();
  }

  @Test
  void onlyTheLastConsumerSettlesAndTheFloorNeverFalls() {
    create("one", "a.>", KeepPolicy.ALL);
    publish(1, "a.x", 1, 9, 0);
    assertThat(apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.FIRST, 0)))
        .isEqualTo(new CursorState(1, 0));
    assertThat(apply(new AttachCursor(1, "c", "one", 0))).isEqualTo(new CursorState(2, 0));
    assertThat(apply(new SettleCursor(1, "c", 2, 5))).isEqualTo(new CursorState(2, 5));
    stamp += 10;
    assertThat(apply(new SettleCursor(1, "c", 2, 3))).isEqualTo(new CursorState(2, 5));
    assertThat(CursorRow.decode(Objects.requireNonNull(shard.rows.get(Keys.cursor(1, "c")))))
        .isEqualTo(
            new CursorRow(FILTER, CursorMode.EXCLUSIVE, 1, 5, 2, "one", stamp, SharedCounts.NONE));

    assertThat(apply(new AttachCursor(1, "c", "one", 0))).isEqualTo(new CursorState(3, 5));
    refused(apply(new SettleCursor(1, "c", 2, 6)), JournalRefusalReason.STALE_EPOCH);
    refused(apply(new SettleCursor(1, "c", 4, 6)), JournalRefusalReason.STALE_EPOCH);
    refused(apply(new SettleCursor(1, "c", 3, 10)), JournalRefusalReason.NO_POSITION);
    assertThat(apply(new SettleCursor(1, "c", 3, 9))).isEqualTo(new CursorState(3, 9));
  }

  @Test
  void aCursorHasOneOwner() {
    create("one", "a.>", KeepPolicy.ALL);
    publish(1, "a.x", 1, 9, 0);
    apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.FIRST, 0));
    assertThat(owner()).as("created").isEmpty();
    assertThat(apply(new AttachCursor(1, "c", "one", 0))).isEqualTo(new CursorState(2, 0));
    assertThat(owner()).isEqualTo("one");

    for (long replaces : new long[] {0, 1, 3}) {
      RecordResult taken = apply(new AttachCursor(1, "c", "two", replaces));
      refused(taken, JournalRefusalReason.CURSOR_TAKEN);
      assertThat(((Refused) taken).message())
          .isEqualTo(
              "owner: two for cursor c of one (journal 1) (expected: one, which has it with the"
                  + " epoch 2)");
    }
    assertThat(apply(new SettleCursor(1, "c", 2, 4))).isEqualTo(new CursorState(2, 4));
    assertThat(owner()).as("settled").isEqualTo("one");
    assertThat(apply(new AttachCursor(1, "c", "one", 0)))
        .as("the owner itself")
        .isEqualTo(new CursorState(3, 4));

    assertThat(apply(new AttachCursor(1, "c", "two", 3)))
        .as("in place of a consumer")
        .isEqualTo(new CursorState(4, 4));
    assertThat(owner()).isEqualTo("two");
    refused(apply(new SettleCursor(1, "c", 3, 5)), JournalRefusalReason.STALE_EPOCH);
    refused(apply(new AttachCursor(1, "c", "one", 3)), JournalRefusalReason.CURSOR_TAKEN);
  }

  @Test
  void aCursorIsReleasedByItsConsumerOnly() {
    create("one", "a.>", KeepPolicy.ALL);
    apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.FIRST, 0));
    apply(new AttachCursor(1, "c", "one", 0));
    for (long epoch : new long[] {0, 1, 3}) {
      refused(apply(new DetachCursor(1, "c", epoch)), JournalRefusalReason.STALE_EPOCH);
    }
    assertThat(owner()).isEqualTo("one");

    assertThat(apply(new DetachCursor(1, "c", 2))).isEqualTo(new CursorState(2, 0));
    assertThat(owner()).isEmpty();
    assertThat(apply(new AttachCursor(1, "c", "two", 0))).isEqualTo(new CursorState(3, 0));
    refused(apply(new DetachCursor(1, "c", 2)), JournalRefusalReason.STALE_EPOCH);
    assertThat(owner()).isEqualTo("two");
  }

  private String owner() {
    return CursorRow.decode(Objects.requireNonNull(shard.rows.get(Keys.cursor(1, "c")))).owner();
  }

  @Test
  void settlementsOfOneEntrySeeEachOther() {
    create("one", "a.>", KeepPolicy.ALL);
    assertThat(
            shard.apply(
                stamp,
                List.of(
                    new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0),
                    new Publish(TestEntries.head("a.x", "p", 1), TestEntries.numbered(1, 3, 5)),
                    new AttachCursor(1, "c", "one", 0),
                    new SettleCursor(1, "c", 2, 3),
                    new SettleCursor(1, "c", 2, 2),
                    new DeleteCursor(1, "c", 1),
                    new DeleteCursor(1, "c", 2))))
        .satisfies(
            results -> {
              assertThat(results.get(3)).isEqualTo(new CursorState(2, 3));
              assertThat(results.get(4)).isEqualTo(new CursorState(2, 3));
              refused(results.get(5), JournalRefusalReason.STALE_EPOCH);
              assertThat(results.get(6)).isEqualTo(new Done());
            });
    assertThat(shard.count(Keys.CURSOR)).isZero();
  }

  @Test
  void aCursorThatComesAgainHasEpochsThatTheOldConsumerDoesNotHave() {
    create("one", "a.>", KeepPolicy.ALL);
    apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0));
    apply(new AttachCursor(1, "c", "one", 0));
    apply(new DeleteCursor(1, "c", 0));
    assertThat(apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0)))
        .isEqualTo(new CursorState(3, 0));
    refused(apply(new SettleCursor(1, "c", 2, 0)), JournalRefusalReason.STALE_EPOCH);
    assertThat(apply(new AttachCursor(1, "c", "one", 0))).isEqualTo(new CursorState(4, 0));
  }

  @Test
  void cursorsAreUniqueLimitedAndOfAJournal() {
    create("one", "a.>", KeepPolicy.ALL);
    assertThat(apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0)))
        .isEqualTo(new CursorState(1, 0));
    assertThat(apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.FIRST, 0)))
        .isEqualTo(new CursorState(1, 0));
    refused(
        apply(
            new CreateCursor(
                1, "c", TopicFilter.parse("a.*"), CursorMode.EXCLUSIVE, CursorStart.NEW, 0)),
        JournalRefusalReason.CURSOR_EXISTS);
    apply(new CreateCursor(1, "d", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0));
    refused(
        apply(new CreateCursor(1, "e", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0)),
        JournalRefusalReason.STORE_FULL);
    for (ShardRecord record :
        List.of(
            new AttachCursor(1, "x", "one", 0),
            new DetachCursor(1, "x", 1),
            new SettleCursor(1, "x", 1, 0),
            new DeleteCursor(1, "x", 0))) {
      refused(apply(record), JournalRefusalReason.NO_CURSOR);
    }
    for (ShardRecord record :
        List.of(
            new CreateCursor(9, "x", FILTER, CursorMode.EXCLUSIVE, CursorStart.NEW, 0),
            new AttachCursor(9, "x", "one", 0),
            new DetachCursor(9, "x", 1),
            new SettleCursor(9, "x", 1, 0),
            new DeleteCursor(9, "x", 0))) {
      refused(apply(record), JournalRefusalReason.NO_JOURNAL);
    }
  }
}
