package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.link.LinkServiceException;
import io.eventbus.raft.AppliedIndex;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EntrySenderTest {
  private static final UUID GROUP = new UUID(1, 2);

  /** Call to a member, and its future answer. */
  private record Call(String member, EntryRequest request, CompletableFuture<byte[]> answer) {
    int content() {
      return request.entry().get(request.entry().position());
    }

    void succeed(long index) {
      RecordResult result = new Published(index, false);
      answer.complete(EntryRequest.encodeAnswer(new RecordResultsMessage(index, List.of(result))));
    }

    void fail() {
      answer.completeExceptionally(new IOException("lost"));
    }
  }

  private final List<Call> calls = new ArrayList<>();
  private final List<EntryMessage> local = new ArrayList<>();
  private final List<CompletableFuture<RecordResultsMessage>> localAnswers = new ArrayList<>();
  private final ArrayDeque<Runnable> timers = new ArrayDeque<>();
  private final AppliedIndex applied = new AppliedIndex();
  private @Nullable String leader = "b";
  private @Nullable CompletableFuture<Void> connecting;
  private final EntryReceiver receiver =
      new EntryReceiver(
          GROUP,
          new EntryReceiver.Replica() {
            @Override
            public long term() {
              return 1;
            }

            @Override
            public CompletableFuture<RecordResultsMessage> submit(EntryMessage entry) {
              local.add(entry);
              CompletableFuture<RecordResultsMessage> answer = new CompletableFuture<>();
              localAnswers.add(answer);
              return answer;
            }
          },
          () -> 0,
          1_000,
          Runnable::run);
  private final EntrySender sender =
      new EntrySender(
          GROUP,
          "a",
          receiver,
          new EntrySender.Network() {
            @Override
            public @Nullable String leader() {
              return leader;
            }

            @Override
            public CompletableFuture<?> connect(String member) {
              CompletableFuture<Void> link = connecting;
              return link == null ? CompletableFuture.completedFuture(null) : link;
            }

            @Override
            public CompletableFuture<byte[]> call(String member, byte[] request) {
              Call call = new Call(member, EntryRequest.decode(request), new CompletableFuture<>());
              calls.add(call);
              return call.answer();
            }
          },
          applied,
          Duration.ofSeconds(60),
          Runnable::run,
          (delay, task) -> timers.add(task),
          () -> 100);

  private CompletableFuture<List<RecordResult>> append(int content) {
    return sender.append(new byte[] {(byte) content});
  }

  /** Returns member, round, number in the round, content of the calls from one on. */
  private List<List<Object>> callsFrom(int first) {
    return calls.subList(first, calls.size()).stream()
        .map(
            call ->
                List.<Object>of(
                    call.member(), call.request().round(), call.request().number(), call.content()))
        .toList();
  }

  private void passTime() {
    Runnable due = timers.remove();
    due.run();
  }

  @Test
  void anAnswerWaitsUntilItsEntryIsAppliedHere() {
    CompletableFuture<List<RecordResult>> answer = append(1);
    calls.get(0).succeed(7);
    assertThat(answer).isNotDone();
    applied.reached(6);
    assertThat(answer).isNotDone();
    applied.reached(7);
    assertThat(answer).isCompletedWithValue(List.of(new Published(7, false)));
  }

  @Test
  void afterAFailureAllThatIsNotAnsweredIsSentAgainInOrderWhenAllCallsHaveEnded() {
    applied.reached(100);
    List<CompletableFuture<List<RecordResult>>> answers = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      answers.add(append(i));
    }
    assertThat(callsFrom(0))
        .containsExactly(
            List.of("b", 100L, 0L, 1),
            List.of("b", 100L, 1L, 2),
            List.of("b", 100L, 2L, 3),
            List.of("b", 100L, 3L, 4));
    calls.get(1).fail();
    answers.add(append(5));
    calls.get(2).succeed(12);
    calls.get(0).fail();
    assertThat(timers).as("a call is under way").isEmpty();
    assertThat(calls).hasSize(4);
    calls.get(3).fail();
    leader = "c";
    passTime();
    assertThat(callsFrom(4))
        .containsExactly(
            List.of("c", 101L, 0L, 1),
            List.of("c", 101L, 1L, 2),
            List.of("c", 101L, 2L, 4),
            List.of("c", 101L, 3L, 5));
    for (int i = 4; i < 8; i++) {
      calls.get(i).succeed(i);
    }
    assertThat(answers.get(0)).isCompletedWithValue(List.of(new Published(4, false)));
    assertThat(answers.get(1)).isCompletedWithValue(List.of(new Published(5, false)));
    assertThat(answers.get(2)).isCompletedWithValue(List.of(new Published(12, false)));
    assertThat(answers.get(3)).isCompletedWithValue(List.of(new Published(6, false)));
    assertThat(answers.get(4)).isCompletedWithValue(List.of(new Published(7, false)));
    assertThat(timers).isEmpty();
  }

  @Test
  void nothingIsSentBeforeTheLinkIsOpenOrALeaderIsKnown() {
    leader = null;
    connecting = new CompletableFuture<>();
    CompletableFuture<List<RecordResult>> unused = append(1);
    passTime();
    leader = "b";
    passTime();
    unused = append(2);
    assertThat(calls).isEmpty();
    connecting.completeExceptionally(new IOException("refused"));
    connecting = new CompletableFuture<>();
    passTime();
    unused = append(3);
    assertThat(calls).isEmpty();
    connecting.complete(null);
    assertThat(calls).extracting(Call::content).containsExactly(1, 2, 3);
    assertThat(timers).isEmpty();
  }

  @Test
  void whereThisBusLeadsAnEntryGoesToTheLogHereAndAfterwardsToTheNextLeader() {
    leader = "a";
    CompletableFuture<List<RecordResult>> first = append(1);
    CompletableFuture<List<RecordResult>> second = append(2);
    assertThat(local).hasSize(2);
    applied.reached(3);
    localAnswers.get(0).complete(new RecordResultsMessage(3, List.of(new Done())));
    assertThat(first).isCompletedWithValue(List.of(new Done()));
    localAnswers.get(1).completeExceptionally(new IOException("not the leader"));
    leader = "b";
    passTime();
    assertThat(callsFrom(0)).containsExactly(List.of("b", 101L, 0L, 2));
    assertThat(second).isNotDone();
  }

  @Test
  void anotherLeaderIsUsedAtOnceAndLateAnswersCountOnce() {
    applied.reached(100);
    CompletableFuture<List<RecordResult>> first = append(1);
    CompletableFuture<List<RecordResult>> second = append(2);
    leader = "c";
    sender.leaderChanged("c");
    passTime();
    assertThat(callsFrom(2)).containsExactly(List.of("c", 102L, 0L, 1), List.of("c", 102L, 1L, 2));
    calls.get(0).succeed(9);
    calls.get(1).fail();
    assertThat(first).isCompletedWithValue(List.of(new Published(9, false)));
    calls.get(2).succeed(10);
    calls.get(3).succeed(11);
    assertThat(second).isCompletedWithValue(List.of(new Published(11, false)));
    sender.leaderChanged("c");
    passTime();
    CompletableFuture<List<RecordResult>> unused = append(3);
    assertThat(callsFrom(4)).containsExactly(List.of("c", 102L, 2L, 3));
    assertThat(timers).isEmpty();
  }

  @Test
  void anEntryThatIsRefusedForGoodIsToldAndTheOthersGoOn() {
    applied.reached(100);
    CompletableFuture<List<RecordResult>> bad = append(1);
    CompletableFuture<List<RecordResult>> good = append(2);
    calls
        .get(0)
        .answer()
        .completeExceptionally(new LinkServiceException(EntryReceiver.REFUSED, "type"));
    calls.get(1).fail();
    assertThat(bad).isCompletedExceptionally();
    passTime();
    assertThat(callsFrom(2)).containsExactly(List.of("b", 101L, 0L, 2));
    calls.get(2).succeed(1);
    assertThat(good).isCompletedWithValue(List.of(new Published(1, false)));
  }
}
