package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.ratis.TestShards.Answer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ShardGateTest {
  private static final long MAX_PENDING = 4 << 20;

  private final AtomicLong nanos = new AtomicLong();
  private final List<Entry> entries = new ArrayList<>();
  private final List<Runnable> timers = new ArrayList<>();
  private final List<CompletableFuture<List<RecordResult>>> results = new ArrayList<>();
  private final AnswerDeadlines deadlines = new AnswerDeadlines(Duration.ofSeconds(10), nanos::get);
  private final ShardGate gate =
      new ShardGate(
          this::append,
          new ShardClock(0, () -> 1_000, nanos::get),
          (delay, task) -> timers.add(task),
          nanos::get,
          MAX_PENDING,
          deadlines);

  private CompletableFuture<List<RecordResult>> append(byte[] entry) {
    try {
      entries.add(new EntryReader().read(ByteBuffer.wrap(entry)));
    } catch (EntryFormatException e) {
      throw new AssertionError(e);
    }
    CompletableFuture<List<RecordResult>> result = new CompletableFuture<>();
    results.add(result);
    return result;
  }

  private Answer publish(long sequence, int count, int payloadBytes) {
    Answer answer = new Answer();
    assertThat(
            gate.append(
                TestShards.head(1, "a", "p", sequence),
                TestShards.events(sequence, count, payloadBytes),
                answer))
        .isTrue();
    return answer;
  }

  /** Answers all records of an entry with their positions. */
  private void answer(int entry, long position) {
    List<RecordResult> done = new ArrayList<>();
    for (int i = 0; i < entries.get(entry).records().size(); i++) {
      done.add(new Published(position + i, false));
    }
    results.get(entry).complete(done);
    passTimers();
  }

  /** Lets the time pass for which an entry waits for callers that come back. */
  private void passTimers() {
    nanos.addAndGet(Duration.ofMillis(2).toNanos());
    List<Runnable> due = List.copyOf(timers);
    timers.clear();
    due.forEach(Runnable::run);
  }

  @Test
  void theFirstPublicationGoesAloneAndThoseThatComeMeanwhileShareAnEntry() {
    List<Answer> answers = new ArrayList<>();
    for (long i = 1; i <= 5; i++) {
      answers.add(publish(i, 1, 20));
    }
    assertThat(entries).hasSize(1);
    answer(0, 1);
    assertThat(entries).hasSize(2);
    assertThat(entries.get(1).records()).hasSize(4);
    assertThat(entries.get(1).stamp()).isEqualTo(1_000);
    answer(1, 2);
    for (int i = 0; i < 5; i++) {
      assertThat(answers.get(i).result()).isCompletedWithValue(new Published(i + 1, false));
    }
    assertThat(gate.pendingBytes()).isZero();
    assertThat(deadlines.open()).isZero();
  }

  @Test
  void withoutRoomNothingIsDoneUntilThereIsSome() {
    int sent = 0;
    Answer last = new Answer();
    while (gate.append(
        TestShards.head(1, "a", "p", sent + 1), TestShards.events(1, 1, 60_000), last)) {
      sent++;
      last = new Answer();
    }
    assertThat(gate.pendingBytes()).isBetween(MAX_PENDING - 70_000, MAX_PENDING);
    assertThat(last.result()).isNotDone();
    AtomicInteger told = new AtomicInteger();
    gate.whenRoom(told::incrementAndGet);
    assertThat(told).hasValue(0);
    int answered = 0;
    while (told.get() == 0) {
      answer(answered, 1);
      answered++;
    }
    assertThat(gate.pendingBytes()).isBetween(MAX_PENDING / 2, MAX_PENDING - MAX_PENDING / 4);
    gate.whenRoom(told::incrementAndGet);
    assertThat(told).as("at once").hasValue(2);
  }

  @Test
  void aSettlementIsTakenWhilePublishersHaveNoRoom() {
    int sequence = 1;
    while (gate.append(
        TestShards.head(1, "a", "p", sequence), TestShards.events(1, 1, 60_000), new Answer())) {
      sequence++;
    }
    assertThat(gate.submit(new SettleCursor(1, "c", 1, 1)).toCompletableFuture()).isNotDone();
  }

  @Test
  void allEventsOfAPublicationAreInOneRecord() {
    PublishHead head = TestEntries.withOrigin(TestShards.head(1, "a", "p", 101), 7);
    Answer answer = new Answer();
    assertThat(gate.append(head, TestShards.events(1, 30, 60_000), answer)).isTrue();
    assertThat(entries).hasSize(1);
    Publish publish = (Publish) entries.get(0).records().get(0);
    assertThat(publish.head().sequence()).isEqualTo(101);
    assertThat(publish.events().count()).isEqualTo(30);
    Refused refused = new Refused(JournalRefusalReason.STORE_FULL, "full");
    results.get(0).complete(List.of(refused));
    assertThat(answer.result()).isCompletedWithValue(refused);
  }

  @Test
  void aPublicationThatFitsInNoEntryIsRefused() {
    ByteBuffer tooMuch = TestShards.events(1, 80, 60_000);
    PublishHead head = TestShards.head(1, "a", "p", 1);
    assertThatThrownBy(() -> gate.append(head, tooMuch, new Answer()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("events of a publication")
        .hasMessageContaining("expected: less than");
    assertThat(gate.pendingBytes()).isZero();
  }

  @Test
  void bytesThatAreNoEventsNeverReachTheLog() {
    ByteBuffer events = TestShards.events(1, 3, 20);
    events.put(events.limit() - 1, (byte) 2);
    assertThatThrownBy(() -> gate.append(TestShards.head(1, "a", "p", 1), events, new Answer()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Publish.events");
    assertThat(entries).isEmpty();
    assertThat(gate.pendingBytes()).isZero();
  }

  @Test
  void whoGetsNoAnswerInTimeIsTold() {
    Answer answer = publish(1, 1, 20);
    nanos.addAndGet(Duration.ofSeconds(9).toNanos());
    deadlines.sweep();
    assertThat(answer.result()).isNotDone();
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    deadlines.sweep();
    assertThat(answer.result()).isCompletedExceptionally();
    assertThat(gate.pendingBytes()).as("still under way").isPositive();
    answer(0, 1);
    assertThat(gate.pendingBytes()).isZero();
    assertThat(deadlines.open()).isZero();
  }

  @Test
  void aFailureIsToldToAllOfItsEntry() {
    Answer first = publish(1, 1, 20);
    Answer second = publish(2, 1, 20);
    results.get(0).completeExceptionally(new IllegalStateException("planted"));
    assertThatThrownBy(() -> first.result().join())
        .cause()
        .isInstanceOf(JournalsUnavailableException.class)
        .hasMessageContaining("planted");
    assertThat(second.result()).as("goes with the next entry").isNotDone();
    assertThat(entries).hasSize(2);
  }

  @Test
  void theEndIsToldToAllWhoWait() {
    Answer answer = publish(1, 1, 20);
    int sequence = 2;
    while (gate.append(
        TestShards.head(1, "a", "p", sequence), TestShards.events(1, 1, 60_000), new Answer())) {
      sequence++;
    }
    AtomicInteger told = new AtomicInteger();
    gate.whenRoom(told::incrementAndGet);
    gate.close(new JournalsUnavailableException("end"));
    assertThat(answer.result()).isCompletedExceptionally();
    assertThat(told).hasValue(1);
    assertThat(gate.submit(new SettleCursor(1, "c", 1, 1)).toCompletableFuture())
        .isCompletedExceptionally();
  }

  @Test
  void aRecordThatStandsAloneGetsAnEntryAtOnce() {
    Answer publication = publish(1, 1, 20);
    CompletableFuture<RecordResult> deletion =
        gate.submit(new DeleteJournal(1)).toCompletableFuture();
    assertThat(entries).hasSize(2);
    results.get(1).complete(List.of(new Done()));
    assertThat(deletion).isCompletedWithValue(new Done());
    assertThat(publication.result()).isNotDone();
  }
}
