package io.eventbus.registry;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Port to the registry: which buses there are, and how topics are configured.
 *
 * <p>Reads come from memory, never wait, and go on when the registry accepts no commands; nothing
 * on the path of a message may depend on more. Commands are applied one after the other, in the
 * same order on every bus. Any thread may call any method.
 *
 * <p>Implementers must not block the caller in any method but {@link #close()}; must not answer a
 * command with success before it is as durable as it will get; must not apply a repeated command
 * twice; must not let a stage wait beyond its deadline; must not keep an unbounded number of
 * commands, in count or in bytes; and must not tell a listener of a snapshot before {@link
 * #snapshot()} returns it or a later one. Stages may be completed on the registry's own threads, so
 * code that depends on them must not block; use the {@code Async} methods for anything longer.
 */
public interface Registry extends AutoCloseable {
  /** Time that {@link #close()} waits at most: 5 seconds. */
  Duration CLOSE_DEADLINE = Duration.ofSeconds(5);

  /** Maximum deadline for a command or a read: one hour. */
  Duration MAX_DEADLINE = Duration.ofHours(1);

  /**
   * Checks a deadline.
   *
   * @param deadline for a command, a read or an end: more than zero, at most {@link #MAX_DEADLINE}
   * @throws IllegalArgumentException if it is out of its range
   */
  static void checkDeadline(Duration deadline) {
    if (deadline.isNegative() || deadline.isZero() || deadline.compareTo(MAX_DEADLINE) > 0) {
      throw new IllegalArgumentException(
          "deadline: " + deadline + " (expected: > 0 and <= " + MAX_DEADLINE + ")");
    }
  }

  /**
   * Starts the registry; the stage completes when commands are accepted.
   *
   * @return a stage that completes when commands are taken, or with a {@link RegistryException}
   *     that says what is wrong
   * @throws IllegalStateException if it was started or closed before
   */
  CompletionStage<Void> start();

  /**
   * Returns the state of the registry in this process.
   *
   * @return the state, which may have changed already
   */
  RegistryLifecycle lifecycle();

  /**
   * Returns the newest snapshot of this bus. It costs one volatile read.
   *
   * @return the snapshot; an empty one with version 0 before anything is known
   */
  RegistrySnapshot snapshot();

  /**
   * Returns the newest snapshot of this bus and how old it may be.
   *
   * @return the snapshot and its age
   */
  DatedSnapshot localRead();

  /**
   * Reads a snapshot that includes every command that has succeeded anywhere before this call
   * (linearizable).
   *
   * @param deadline the longest time to wait: more than zero, at most {@link #MAX_DEADLINE}
   * @return a stage that completes by the deadline, with the snapshot or a {@link
   *     RegistryException}
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<RegistrySnapshot> linearizableRead(Duration deadline);

  /**
   * Returns an id for a new command, based on the newest snapshot of this bus.
   *
   * @return a new id
   */
  default CommandId newCommandId() {
    return CommandId.random(snapshot().version());
  }

  /**
   * Submits a command. A caller that repeats it gives the same id, and keeps it as long as the
   * result is unknown.
   *
   * <p>The stage completes with the result, which may be {@link CommandResult.Refused}, or with a
   * {@link RegistryException}: {@link RegistryOverloadedException} for too many waiting commands,
   * {@link RegistryUnavailableException} before the start and without a majority, {@link
   * RegistryTimeoutException} at the deadline, {@link RegistryClosedException}, {@link
   * RegistryFailedException}. Each says whether to retry. Local snapshots may be behind the result:
   * compare {@link CommandResult#version()}.
   *
   * @param id the id that makes the command unique
   * @param command the command
   * @param deadline the longest time to wait: more than zero, at most {@link #MAX_DEADLINE}
   * @return a stage that completes by the deadline
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<CommandResult> submit(CommandId id, RegistryCommand command, Duration deadline);

  /**
   * Submits a new command, for callers that will not repeat it: as {@link #submit(CommandId,
   * RegistryCommand, Duration)} with a new id.
   *
   * @param command the command
   * @param deadline the longest time to wait: more than zero, at most {@link #MAX_DEADLINE}
   * @return a stage that completes by the deadline
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  default CompletionStage<CommandResult> submit(RegistryCommand command, Duration deadline) {
    return submit(newCommandId(), command, deadline);
  }

  /**
   * Adds a listener for changes. Its first call brings the snapshot of the moment, on the
   * registry's thread, once the registry is started.
   *
   * @param listener the listener
   * @return the registration, which ends it
   * @throws IllegalStateException if the registry has the maximum number of listeners
   */
  ListenerRegistration addListener(RegistryListener listener);

  /**
   * Returns the operations for operators.
   *
   * @return always the same object; before the start and after the end it refuses
   */
  RegistryAdministration administration();

  /**
   * Closes the registry without blocking: accepts no more commands, answers those that wait, and
   * tells the listeners what those changed. Commands that are not done by the deadline fail with
   * {@link RegistryClosedException}. Doing it again returns the same stage.
   *
   * @param deadline the longest time to take: more than zero, at most {@link #MAX_DEADLINE}
   * @return a stage that completes when everything is released, at the latest at the deadline;
   *     never with an error
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<Void> shutdown(Duration deadline);

  /**
   * Closes the registry as {@link #shutdown} does, with {@link #CLOSE_DEADLINE}, and waits for it.
   * On a thread of the registry, it does not wait.
   */
  @Override
  void close();
}
