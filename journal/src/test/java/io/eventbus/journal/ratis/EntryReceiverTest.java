package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkServiceException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EntryReceiverTest {
  private static final UUID GROUP = new UUID(1, 2);
  private static final LinkPeer BUS = new LinkPeer("", "", "bus-b", 1, "shards.entries");
  private static final LinkPeer OTHER = new LinkPeer("", "", "bus-c", 1, "shards.entries");
  private static final long STAMP = 77_000;
  private static final int MAX_BYTES = 1_000;

  private final List<EntryMessage> submitted = new ArrayList<>();
  private final List<CompletableFuture<RecordResultsMessage>> answers = new ArrayList<>();
  private long term = 5;
  private final EntryReceiver receiver =
      new EntryReceiver(
          GROUP,
          new EntryReceiver.Replica() {
            @Override
            public long term() {
              return term;
            }

            @Override
            public CompletableFuture<RecordResultsMessage> submit(EntryMessage entry) {
              submitted.add(entry);
              CompletableFuture<RecordResultsMessage> answer = new CompletableFuture<>();
              answers.add(answer);
              return answer;
            }
          },
          () -> STAMP,
          MAX_BYTES,
          Runnable::run);

  private static ByteBuffer tick() {
    return TestEntries.bytes(1, List.of(new Tick()));
  }

  private CompletableFuture<byte[]> send(LinkPeer peer, long round, long number) {
    return send(peer, round, number, tick());
  }

  private CompletableFuture<byte[]> send(LinkPeer peer, long round, long number, ByteBuffer entry) {
    return receiver
        .answer(peer, new EntryRequest(GROUP, round, number, entry).encode())
        .toCompletableFuture();
  }

  private static void assertRefused(CompletableFuture<byte[]> answer, String code, String part) {
    assertThatThrownBy(() -> answer.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(
            LinkServiceException.class,
            refusal -> {
              assertThat(refusal.code()).isEqualTo(code);
              assertThat(refusal).hasMessageContaining(part);
            });
  }

  private void succeed(int index) {
    answers.get(index).complete(new RecordResultsMessage(index, List.of(new Done())));
  }

  @Test
  void entriesGetTheLeadersStampAndTheirResults() throws Exception {
    CompletableFuture<byte[]> first = send(BUS, 9, 0);
    CompletableFuture<byte[]> second = send(BUS, 9, 1);
    assertThat(submitted).hasSize(2);
    Entry entry = new EntryReader().read(submitted.get(0).content().asReadOnlyByteBuffer());
    assertThat(entry.stamp()).isEqualTo(STAMP);
    succeed(1);
    assertThat(first).isNotDone();
    RecordResultsMessage answer = EntryRequest.decodeAnswer(second.get(60, TimeUnit.SECONDS));
    assertThat(answer).isEqualTo(new RecordResultsMessage(1, List.of(new Done())));
  }

  @Test
  void anEntryThatOvertakesAnotherIsRefusedAndAllBehindItUntilTheNextRound() {
    CompletableFuture<byte[]> first = send(BUS, 9, 0);
    assertRefused(send(BUS, 9, 2), EntryReceiver.AGAIN, "expected: 1");
    assertRefused(send(BUS, 9, 1), EntryReceiver.AGAIN, "has failed");
    assertRefused(send(BUS, 10, 1), EntryReceiver.AGAIN, "round");
    assertThat(submitted).hasSize(1);
    assertThat(send(BUS, 10, 0)).isNotDone();
    assertThat(send(BUS, 10, 1)).isNotDone();
    assertThat(submitted).hasSize(3);
    // Late, of a round that is over.
    assertRefused(send(BUS, 9, 1), EntryReceiver.AGAIN, "round");
    assertRefused(send(BUS, 9, 0), EntryReceiver.AGAIN, "round");
    assertThat(send(BUS, 10, 2)).as("the round is as it was").isNotDone();
    succeed(0);
    assertThat(first).isCompleted();
  }

  @Test
  void afterAFailureTheRestOfTheRoundIsRefused() {
    CompletableFuture<byte[]> first = send(BUS, 9, 0);
    answers.get(0).completeExceptionally(new IllegalStateException("no leader"));
    assertThat(first).isCompletedExceptionally();
    assertRefused(send(BUS, 9, 1), EntryReceiver.AGAIN, "has failed");
    assertThat(submitted).hasSize(1);
    // The failure of a round that is over is none of the next one.
    CompletableFuture<byte[]> again = send(BUS, 10, 0);
    CompletableFuture<byte[]> next = send(BUS, 11, 0);
    answers.get(1).completeExceptionally(new IllegalStateException("no leader"));
    assertThat(again).isCompletedExceptionally();
    assertThat(send(BUS, 11, 1)).isNotDone();
    assertThat(next).isNotDone();
  }

  @Test
  void aRoundEndsWithTheTermInWhichItBegan() {
    assertThat(send(BUS, 9, 0)).isNotDone();
    term++;
    assertRefused(send(BUS, 9, 1), EntryReceiver.AGAIN, "term");
    assertThat(send(BUS, 10, 0)).isNotDone();
  }

  @Test
  void whatCannotBeAppliedIsRefusedAndEndsNothing() {
    ByteBuffer changed = tick();
    changed.put(changed.limit() - 1, (byte) 99);
    assertRefused(send(BUS, 9, 0, changed), EntryReceiver.REFUSED, "type");
    assertRefused(
        send(BUS, 9, 0, ByteBuffer.allocate(Entry.MAX_BYTES + 1)), EntryReceiver.REFUSED, "size");
    assertRefused(send(BUS, 9, 0, ByteBuffer.allocate(0)), EntryReceiver.REFUSED, "size");
    assertThatThrownBy(() -> receiver.answer(BUS, new byte[31]))
        .isInstanceOf(LinkServiceException.class)
        .hasMessageContaining("31 bytes");
    assertThatThrownBy(
            () -> receiver.answer(BUS, new EntryRequest(new UUID(3, 4), 1, 0, tick()).encode()))
        .isInstanceOf(LinkServiceException.class)
        .hasMessageContaining("group");
    assertThat(submitted).isEmpty();
    assertThat(send(BUS, 9, 0)).isNotDone();
    assertThat(submitted).hasSize(1);
  }

  @Test
  void aSenderHasABoundAndOthersHaveTheirOwn() {
    int number = 0;
    while (submitted.size() == number) {
      CompletableFuture<byte[]> unused = send(BUS, 9, number);
      number++;
    }
    assertThat(submitted).hasSize(MAX_BYTES / tick().remaining());
    assertRefused(send(BUS, 10, 0), EntryReceiver.AGAIN, "under way");
    assertThat(send(OTHER, 1, 0)).isNotDone();
    succeed(0);
    assertThat(send(BUS, 11, 0)).isNotDone();
  }

  @Test
  void aSenderWhoseLinkHasEndedBeginsAgain() throws EntryFormatException {
    assertThat(send(BUS, 9, 0)).isNotDone();
    receiver.ended(BUS);
    assertRefused(send(BUS, 9, 1), EntryReceiver.AGAIN, "round");
    assertThat(send(BUS, 9, 0)).as("a process with another count").isNotDone();
  }
}
