package io.eventbus.registry.ratis.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.raft.GateLimits;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.state.TimedCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CommandGateTest {
  private static final TopicCommand COMMAND = new TopicCommand.Delete("t", 1);

  private final AtomicLong time = new AtomicLong(7);
  private final List<List<TimedCommand>> batches = new ArrayList<>();
  private final CompletableFuture<List<CommandResult>> first = new CompletableFuture<>();
  private final CommandGate gate =
      new CommandGate(
          commands -> {
            batches.add(commands);
            return batches.size() == 1 ? first : new CompletableFuture<>();
          },
          time::getAndIncrement,
          new GateLimits(1, 10, 1 << 20, 2, 1 << 20),
          (after, task) -> task.run(),
          () -> 0);

  private CompletableFuture<CommandResult> submit(long id) {
    return gate.submit(new CommandId(0, 0, id), COMMAND);
  }

  private static TimedCommand timed(long id, long timeMillis) {
    return new TimedCommand(new CommandId(0, 0, id), timeMillis, COMMAND);
  }

  @Test
  void anEntryHasTheTimeAtWhichItIsMadeAndItsCommitIsCounted() {
    CompletableFuture<CommandResult> answer = submit(1);
    var waiting = List.of(submit(2), submit(3));
    assertThat(gate.latency().count()).isZero();
    first.complete(List.of(new CommandResult.TopicDeleted(1)));
    assertThat(answer).isCompletedWithValue(new CommandResult.TopicDeleted(1));
    assertThat(waiting).noneMatch(CompletableFuture::isDone);
    assertThat(gate.latency().count()).isEqualTo(1);
    assertThat(batches).containsExactly(List.of(timed(1, 7)), List.of(timed(2, 8), timed(3, 8)));
  }

  @Test
  void tooManyAreToldSo() {
    var taken = List.of(submit(1), submit(2), submit(3));
    assertThat(submit(4))
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(RegistryOverloadedException.class);
    assertThat(taken).noneMatch(CompletableFuture::isDone);
  }
}
