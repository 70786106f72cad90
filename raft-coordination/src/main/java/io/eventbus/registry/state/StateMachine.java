package io.eventbus.registry.state;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.CommandResult.Refused;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.TopicCommand;
import java.util.List;

/**
 * State machine of the registry: the one function that every bus must compute alike.
 *
 * <p>It depends on its arguments alone. A command that cannot be carried out is answered with
 * {@link Refused}; no command makes it throw. Any thread may call it.
 */
public final class StateMachine {
  private StateMachine() {}

  /**
   * Applies one command.
   *
   * <p>A command whose id is remembered changes nothing and gets its first result. A command whose
   * id may be forgotten, or was made for another registry, changes nothing and is refused. Every
   * other one makes the next version and is remembered, also if it was refused. The registry's time
   * becomes the command's, unless that is earlier.
   *
   * @param state the state before
   * @return the state after, the result and the changes
   */
  public static Applied apply(RegistryState state, TimedCommand command) {
    CommandId id = command.id();
    CommandResult first = state.memory().recall(id);
    if (first != null) {
      return new Applied(state, first, List.of());
    }
    StateSnapshot before = state.view();
    if (id.basis() < state.memory().forgottenUpTo()) {
      return withoutTrace(
          state,
          RegistryRefusalReason.ID_FORGOTTEN,
          "id.basis: " + id.basis() + " (expected: >= " + state.memory().forgottenUpTo() + ")");
    }
    if (id.basis() > before.version()) {
      return withoutTrace(
          state,
          RegistryRefusalReason.ID_FROM_THE_FUTURE,
          "id.basis: " + id.basis() + " (expected: <= " + before.version() + ")");
    }
    long time = Math.max(before.timeMillis(), command.timeMillis());
    RegistryState entered = state.with(before.at(before.version() + 1, time), state.nextNumber());
    Applied applied = carryOut(entered, command.command());
    CommandMemory memory =
        state.memory().with(id, applied.result(), state.limits().rememberedCommands());
    return new Applied(applied.state().with(memory), applied.result(), applied.changes());
  }

  private static Applied carryOut(RegistryState state, RegistryCommand command) {
    if (command instanceof BusCommand bus) {
      return BusTransitions.apply(state, bus);
    }
    if (command instanceof TopicCommand topic) {
      return TopicTransitions.apply(state, topic);
    }
    if (command instanceof RevocationCommand revocation) {
      return RevocationTransitions.apply(state, revocation);
    }
    if (command instanceof ShardCommand shard) {
      return ShardTransitions.apply(state, shard);
    }
    throw new AssertionError("sealed: " + command.getClass());
  }

  /** Returns an answer that leaves no trace, not even a version. */
  private static Applied withoutTrace(
      RegistryState state, RegistryRefusalReason reason, String message) {
    return refused(state, reason, message);
  }

  static Applied refused(RegistryState state, RegistryRefusalReason reason, String message) {
    return new Applied(state, new Refused(state.view().version(), reason, message), List.of());
  }
}
