package io.eventbus.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CommandBatcherTest {
  private final AtomicLong nanos = new AtomicLong();
  private final List<List<Long>> batches = new ArrayList<>();
  private final List<CompletableFuture<List<String>>> results = new ArrayList<>();
  private final List<CompletableFuture<String>> sent = new ArrayList<>();
  private final List<Due> timers = new ArrayList<>();
  private final List<Long> committed = new ArrayList<>();
  private boolean ended;

  private CommandBatcher<Long, String> gate(int underWay, int batch, int queued) {
    return new CommandBatcher<>(
        commands -> {
          batches.add(commands);
          CompletableFuture<List<String>> result = new CompletableFuture<>();
          results.add(result);
          return result;
        },
        new Owner(),
        new GateLimits(underWay, batch, 1 << 20, queued, 1 << 20),
        (after, task) -> {
          if (ended) {
            throw new RejectedExecutionException("ended");
          }
          timers.add(new Due(nanos.get() + after, task));
        },
        nanos::get);
  }

  private final class Owner implements CommandBatcher.Owner {
    @Override
    public RuntimeException overloaded(String message) {
      return new RejectedExecutionException(message);
    }

    @Override
    public void committed(long tookNanos) {
      committed.add(tookNanos);
    }
  }

  private record Due(long nanos, Runnable task) {}

  private void pass(long passed) {
    nanos.addAndGet(passed);
    for (Due due : List.copyOf(timers)) {
      if (due.nanos() <= nanos.get()) {
        timers.remove(due);
        due.task().run();
      }
    }
  }

  private static CompletableFuture<String> submit(CommandBatcher<Long, String> gate, long id) {
    return gate.submit(id, 100);
  }

  private void send(CommandBatcher<Long, String> gate, long id) {
    sent.add(submit(gate, id));
  }

  private void finish(int batch) {
    results.get(batch).complete(batches.get(batch).stream().map(id -> "done " + id).toList());
  }

  @Test
  void proposesOneCommandAtOnceAndWaitingOnesTogether() {
    CommandBatcher<Long, String> gate = gate(1, 3, 10);
    List<CompletableFuture<String>> answers = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      answers.add(submit(gate, i));
    }
    assertThat(batches).hasSize(1);
    assertThat(gate.queued()).isEqualTo(4);
    finish(0);
    assertThat(batches.get(1)).hasSize(3);
    finish(1);
    pass(GroupCommitDelay.MAX_NANOS);
    assertThat(batches.get(2)).hasSize(1);
    finish(2);
    for (int i = 0; i < 5; i++) {
      assertThat(answers.get(i)).isCompletedWithValue("done " + (i + 1));
    }
  }

  @Test
  void entriesAreProposedInTheOrderOfTheirCommands() throws InterruptedException {
    CountDownLatch proposing = new CountDownLatch(1);
    CountDownLatch resumed = new CountDownLatch(1);
    List<List<Long>> proposed = new ArrayList<>();
    CommandBatcher<Long, String> gate =
        new CommandBatcher<>(
            commands -> {
              if (commands.contains(1L)) {
                proposing.countDown();
                await(resumed);
              }
              proposed.add(commands);
              return new CompletableFuture<>();
            },
            new Owner(),
            new GateLimits(3, 2, 1 << 20, 10, 1 << 20),
            (after, task) -> {},
            nanos::get);
    Thread first = new Thread(() -> send(gate, 1));
    first.start();
    await(proposing);
    var unused = submit(gate, 2);
    var full = submit(gate, 3);
    assertThat(full).isNotDone();
    resumed.countDown();
    first.join();
    assertThat(proposed).containsExactly(List.of(1L), List.of(2L, 3L));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void callersWhoComeBackShareTheNextEntry() {
    CommandBatcher<Long, String> gate = gate(3, 100, 100);
    for (int i = 1; i <= 4; i++) {
      send(gate, i);
    }
    assertThat(batches).hasSize(1);
    pass(300_000);
    finish(0);
    // Three wait, and the first is on its way back.
    assertThat(batches).hasSize(1);
    send(gate, 5);
    assertThat(batches.get(1)).hasSize(4);
    pass(300_000);
    finish(1);
    for (int i = 6; i <= 8; i++) {
      send(gate, i);
    }
    assertThat(batches).hasSize(2);
    var unused = gate.confirm();
    assertThat(batches.get(2)).hasSize(3);
  }

  @Test
  void waitsForAbsentCallersAtMostAsLongAsAnEntryTook() {
    CommandBatcher<Long, String> gate = gate(3, 100, 100);
    send(gate, 1);
    CompletableFuture<String> waiting = submit(gate, 2);
    pass(300_000);
    finish(0);
    pass(299_999);
    assertThat(batches).hasSize(1);
    pass(1);
    assertThat(batches).hasSize(2);
    finish(1);
    assertThat(waiting).isCompleted();
    assertThat(timers).isEmpty();
  }

  @Test
  void aCallerWhoIsAloneNeverWaits() {
    CommandBatcher<Long, String> gate = gate(3, 100, 100);
    for (int i = 0; i < 10; i++) {
      send(gate, i);
      assertThat(batches).hasSize(i + 1);
      pass(300_000);
      finish(i);
    }
    assertThat(committed).hasSize(10).containsOnly(300_000L);
    assertThat(timers).isEmpty();
  }

  @Test
  void onlyFullEntriesGoBesideOthers() {
    CommandBatcher<Long, String> gate = gate(3, 4, 100);
    for (int i = 1; i <= 12; i++) {
      send(gate, i);
    }
    assertThat(batches).extracting(List::size).containsExactly(1, 4, 4);
    finish(1);
    assertThat(batches).hasSize(3);
    send(gate, 13);
    assertThat(batches).extracting(List::size).containsExactly(1, 4, 4, 4);
  }

  @Test
  void nobodyWaitsForATimerThatHasEnded() {
    CommandBatcher<Long, String> gate = gate(3, 100, 100);
    send(gate, 1);
    send(gate, 2);
    pass(300_000);
    ended = true;
    finish(0);
    assertThat(batches).hasSize(2);
  }

  @Test
  void aReadGetsAnEntryThatIsMadeAfterIt() {
    CommandBatcher<Long, String> gate = gate(1, 3, 2);
    CompletableFuture<Void> first = gate.confirm();
    assertThat(batches).containsExactly(List.of());
    // The entry that is under way may have been acknowledged before these ask.
    List<CompletableFuture<Void>> later = List.of(gate.confirm(), gate.confirm());
    CompletableFuture<String> command = submit(gate, 1);
    assertThat(gate.confirm())
        .isCompletedExceptionally()
        .failsWithin(java.time.Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(RejectedExecutionException.class);
    finish(0);
    assertThat(first).isCompleted();
    assertThat(later).noneMatch(CompletableFuture::isDone);
    assertThat(batches.get(1)).hasSize(1);
    finish(1);
    assertThat(later).allMatch(reader -> reader.isDone() && !reader.isCompletedExceptionally());
    assertThat(command).isCompleted();
  }

  @Test
  void aReadFailsWithItsEntry() {
    CommandBatcher<Long, String> gate = gate(1, 3, 2);
    CompletableFuture<Void> reader = gate.confirm();
    results.get(0).completeExceptionally(new IllegalStateException("not the leader"));
    assertThat(reader).isCompletedExceptionally();
  }

  @Test
  void tooManyAreRefusedAndTheRestGoesOn() {
    CommandBatcher<Long, String> gate = gate(1, 3, 2);
    List<CompletableFuture<String>> taken =
        List.of(submit(gate, 1), submit(gate, 2), submit(gate, 3));
    assertThat(submit(gate, 4))
        .isCompletedExceptionally()
        .failsWithin(java.time.Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(RejectedExecutionException.class);
    finish(0);
    assertThat(taken.get(0)).isCompleted();
    assertThat(submit(gate, 5)).isNotDone();
  }

  @Test
  void anErrorFailsItsBatchOnly() {
    CommandBatcher<Long, String> gate = gate(1, 1, 10);
    CompletableFuture<String> first = submit(gate, 1);
    CompletableFuture<String> second = submit(gate, 2);
    results.get(0).completeExceptionally(new IllegalStateException("no leader"));
    assertThat(first).isCompletedExceptionally();
    assertThat(committed).isEmpty();
    finish(1);
    assertThat(second).isCompletedWithValue("done 2");
  }
}
