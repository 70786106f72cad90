package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.state.TimedCommand;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LeaderGateTest {
  private final AtomicLong nanos = new AtomicLong();
  private final RegistryClock clock =
      new RegistryClock(Clock.fixed(Instant.ofEpochMilli(1_000), ZoneOffset.UTC), nanos::get);
  private final List<List<TimedCommand>> batches = new ArrayList<>();
  private final List<CompletableFuture<List<CommandResult>>> results = new ArrayList<>();
  private final List<CompletableFuture<CommandResult>> sent = new ArrayList<>();
  private final List<Due> timers = new ArrayList<>();
  private boolean ended;

  private LeaderGate gate(int underWay, int batch, int queued) {
    return new LeaderGate(
        commands -> {
          batches.add(commands);
          CompletableFuture<List<CommandResult>> result = new CompletableFuture<>();
          results.add(result);
          return result;
        },
        clock,
        new GateLimits(underWay, batch, 1 << 20, queued, 1 << 20),
        (after, task) -> {
          if (ended) {
            throw new RejectedExecutionException("ended");
          }
          timers.add(new Due(nanos.get() + after, task));
        },
        nanos::get);
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

  private static CompletableFuture<CommandResult> submit(LeaderGate gate, long id) {
    return gate.submit(new CommandId(0, 0, id), new TopicCommand.Delete("t", 1));
  }

  private void send(LeaderGate gate, long id) {
    sent.add(submit(gate, id));
  }

  private void finish(int batch) {
    List<CommandResult> done = new ArrayList<>();
    for (TimedCommand command : batches.get(batch)) {
      done.add(new CommandResult.TopicDeleted(command.id().low()));
    }
    results.get(batch).complete(done);
  }

  @Test
  void oneCommandGoesInAtOnceAndThoseThatWaitShareAnEntry() {
    LeaderGate gate = gate(1, 3, 10);
    List<CompletableFuture<CommandResult>> answers = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      answers.add(submit(gate, i));
    }
    assertThat(batches).hasSize(1);
    assertThat(gate.queued()).isEqualTo(4);
    finish(0);
    assertThat(batches.get(1)).hasSize(3);
    finish(1);
    pass(Gathering.MOST_NANOS);
    assertThat(batches.get(2)).hasSize(1);
    finish(2);
    for (int i = 0; i < 5; i++) {
      assertThat(answers.get(i)).isCompletedWithValue(new CommandResult.TopicDeleted(i + 1));
    }
  }

  @Test
  void callersWhoComeBackShareTheNextEntry() {
    LeaderGate gate = gate(3, 100, 100);
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
  void whoeverWaitsForThoseWhoDoNotComeBackWaitsAsLongAsAnEntryTook() {
    LeaderGate gate = gate(3, 100, 100);
    send(gate, 1);
    CompletableFuture<CommandResult> waiting = submit(gate, 2);
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
    LeaderGate gate = gate(3, 100, 100);
    for (int i = 0; i < 10; i++) {
      send(gate, i);
      assertThat(batches).hasSize(i + 1);
      pass(300_000);
      finish(i);
    }
    assertThat(timers).isEmpty();
  }

  @Test
  void onlyFullEntriesGoBesideOthers() {
    LeaderGate gate = gate(3, 4, 100);
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
    LeaderGate gate = gate(3, 100, 100);
    send(gate, 1);
    send(gate, 2);
    pass(300_000);
    ended = true;
    finish(0);
    assertThat(batches).hasSize(2);
  }

  @Test
  void whoReadsGetsAnEntryThatIsMadeAfterTheRead() {
    LeaderGate gate = gate(1, 3, 2);
    CompletableFuture<Void> first = gate.confirm();
    assertThat(batches).containsExactly(List.of());
    // The entry that is under way may have been acknowledged before these ask.
    List<CompletableFuture<Void>> later = List.of(gate.confirm(), gate.confirm());
    CompletableFuture<CommandResult> command = submit(gate, 1);
    assertThat(gate.confirm())
        .isCompletedExceptionally()
        .failsWithin(java.time.Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(RegistryOverloadedException.class);
    finish(0);
    assertThat(first).isCompleted();
    assertThat(later).noneMatch(CompletableFuture::isDone);
    assertThat(batches.get(1)).hasSize(1);
    finish(1);
    assertThat(later).allMatch(reader -> reader.isDone() && !reader.isCompletedExceptionally());
    assertThat(command).isCompleted();
  }

  @Test
  void whoReadsHearsOfAnEntryThatFailed() {
    LeaderGate gate = gate(1, 3, 2);
    CompletableFuture<Void> reader = gate.confirm();
    results.get(0).completeExceptionally(new IllegalStateException("not the leader"));
    assertThat(reader).isCompletedExceptionally();
  }

  @Test
  void tooManyAreRefusedAndTheRestGoesOn() {
    LeaderGate gate = gate(1, 3, 2);
    List<CompletableFuture<CommandResult>> taken =
        List.of(submit(gate, 1), submit(gate, 2), submit(gate, 3));
    assertThat(submit(gate, 4))
        .isCompletedExceptionally()
        .failsWithin(java.time.Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(RegistryOverloadedException.class);
    finish(0);
    assertThat(taken.get(0)).isCompleted();
    assertThat(submit(gate, 5)).isNotDone();
  }

  @Test
  void anErrorFailsItsBatchOnly() {
    LeaderGate gate = gate(1, 1, 10);
    CompletableFuture<CommandResult> first = submit(gate, 1);
    CompletableFuture<CommandResult> second = submit(gate, 2);
    results.get(0).completeExceptionally(new IllegalStateException("no leader"));
    assertThat(first).isCompletedExceptionally();
    finish(1);
    assertThat(second).isCompletedWithValue(new CommandResult.TopicDeleted(2));
  }

  @Test
  void registryTimeGoesOnFromWhatWasAppliedAndNeverBack() {
    assertThat(clock.stamp()).isEqualTo(1_000);
    nanos.addAndGet(5_000_000);
    assertThat(clock.stamp()).isEqualTo(1_005);
    clock.applied(900);
    assertThat(clock.stamp()).isEqualTo(1_005);
    clock.applied(2_000);
    nanos.addAndGet(1_000_000);
    assertThat(clock.now()).isEqualTo(2_001);
    clock.restart(1_500);
    assertThat(clock.now()).isEqualTo(1_500);
    assertThat(clock.stamp()).isGreaterThanOrEqualTo(1_500);
  }
}
