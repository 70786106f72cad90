package io.eventbus.registry.history;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicConfig;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The pure state machine with one topic in it.
 *
 * <p>Versions count all topics' commands, so here they differ from the history's. A configuration
 * is identified instead by the token that was written into it.
 */
final class TopicModel {
  private static final String SETTING = "v";

  /** No topic gets this revision. */
  private static final long NO_REVISION = Long.MAX_VALUE;

  private TopicModel() {}

  static RegistryState start() {
    return RegistryState.empty(new RegistryLimits(1, 2, 1), 1);
  }

  /** Returns the token that a read sees; empty if there is no configuration. */
  static String token(RegistryState state, String topic) {
    TopicConfig present = state.snapshot().topic(topic);
    return present == null ? "" : String.valueOf(present.settings().get(SETTING));
  }

  /** Returns the state after the operation, or null if it cannot have had its outcome here. */
  static @Nullable RegistryState step(RegistryState state, Operation operation) {
    if (operation.kind() == Operation.Kind.READ) {
      return !(operation.outcome() instanceof Outcome.Value value)
              || value.token().equals(token(state, operation.topic()))
          ? state
          : null;
    }
    long version = state.snapshot().version();
    Applied applied =
        StateMachine.apply(
            state,
            new TimedCommand(new CommandId(version, 0, version), 1, command(state, operation)));
    return agrees(applied.result(), operation.outcome()) ? applied.state() : null;
  }

  private static TopicCommand command(RegistryState state, Operation operation) {
    String topic = operation.topic();
    TopicConfig present = state.snapshot().topic(topic);
    long revision =
        present != null && token(state, topic).equals(operation.expected())
            ? present.revision()
            : NO_REVISION;
    return switch (operation.kind()) {
      case CREATE -> new TopicCommand.Create(spec(operation));
      case CHANGE -> new TopicCommand.Change(spec(operation), revision);
      case DELETE -> new TopicCommand.Delete(topic, revision);
      case READ -> throw new IllegalArgumentException("a read is no command");
    };
  }

  private static TopicSpec spec(Operation operation) {
    return new TopicSpec(operation.topic(), Map.of(SETTING, operation.token()));
  }

  private static boolean agrees(CommandResult result, Outcome outcome) {
    if (outcome instanceof Outcome.Unknown) {
      return true;
    }
    if (result instanceof CommandResult.Refused refused) {
      return outcome instanceof Outcome.Refused seen && seen.reason() == refused.reason();
    }
    return outcome instanceof Outcome.Applied;
  }
}
