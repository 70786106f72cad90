package io.eventbus.registry.local;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Command on its way. Three threads meet here: the submitter's, the registry's, and the one that
 * watches deadlines; the first to change the state decides.
 */
final class PendingCommand {
  private enum Stage {
    WAITING,
    TAKEN,
    ANSWERED
  }

  final CommandId id;
  final RegistryCommand command;
  final int bytes;
  private final Duration deadline;
  private final CompletableFuture<CommandResult> answer = new CompletableFuture<>();
  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.WAITING);
  private volatile @Nullable Future<?> timer;

  PendingCommand(CommandId id, RegistryCommand command, Duration deadline) {
    this.id = id;
    this.command = command;
    this.bytes = command.estimatedBytes();
    this.deadline = deadline;
  }

  /** Returns the stage, which cannot be completed from outside. */
  CompletionStage<CommandResult> answer() {
    return answer.minimalCompletionStage();
  }

  void watch(ScheduledExecutorService deadlines) {
    Future<?> watching = deadlines.schedule(this::expire, deadline.toNanos(), TimeUnit.NANOSECONDS);
    timer = watching;
    if (stage.get() == Stage.ANSWERED) {
      watching.cancel(false);
    }
  }

  /**
   * Takes the command for the registry's thread; returns false if no caller waits for it any more.
   */
  boolean take() {
    return stage.compareAndSet(Stage.WAITING, Stage.TAKEN);
  }

  void succeed(CommandResult result) {
    if (stage.compareAndSet(Stage.TAKEN, Stage.ANSWERED)) {
      stopTimer();
      answer.complete(result);
    }
  }

  /** Fails the command if it still waits for its turn; then it is certain not to be applied. */
  void failWaiting(RegistryException error) {
    if (stage.compareAndSet(Stage.WAITING, Stage.ANSWERED)) {
      stopTimer();
      answer.completeExceptionally(error);
    }
  }

  /** Fails the command if the registry's thread has taken it and is not done. */
  void failTaken(RegistryException error) {
    if (stage.compareAndSet(Stage.TAKEN, Stage.ANSWERED)) {
      stopTimer();
      answer.completeExceptionally(error);
    }
  }

  private void expire() {
    failWaiting(timeout("the command waited behind others and was not applied", false));
    failTaken(timeout("the command was being applied", true));
  }

  private RegistryTimeoutException timeout(String what, boolean maybeApplied) {
    return new RegistryTimeoutException("no answer within " + deadline + ": " + what, maybeApplied);
  }

  private void stopTimer() {
    Future<?> watching = timer;
    if (watching != null) {
      watching.cancel(false);
    }
  }
}
