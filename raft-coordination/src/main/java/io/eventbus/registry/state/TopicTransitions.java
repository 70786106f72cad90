package io.eventbus.registry.state;

import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Transitions by commands about topics; the given state has the new version already. */
final class TopicTransitions {
  private TopicTransitions() {}

  static Applied apply(RegistryState state, TopicCommand command) {
    if (command instanceof TopicCommand.Create create) {
      return create(state, create);
    }
    if (command instanceof TopicCommand.Change change) {
      return change(state, change);
    }
    if (command instanceof TopicCommand.Delete delete) {
      return delete(state, delete);
    }
    throw new AssertionError("sealed: " + command.getClass());
  }

  private static Applied create(RegistryState state, TopicCommand.Create command) {
    StateSnapshot view = state.view();
    TopicConfig present = view.topic(command.spec().name());
    if (present != null) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.TOPIC_EXISTS,
          "the topic has a configuration of revision " + present.revision() + " (expected: none)");
    }
    int max = state.limits().maxTopics();
    if (view.topicsByName().size() >= max) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.TOO_MANY_TOPICS,
          "topics: " + view.topicsByName().size() + " (expected: < " + max + ")");
    }
    TopicConfig topic = new TopicConfig(command.spec(), view.version(), view.version());
    return new Applied(
        state.with(view.with(topic), state.nextNumber()),
        new CommandResult.TopicCreated(view.version()),
        List.of(new RegistryChange.TopicCreated(topic)));
  }

  private static Applied change(RegistryState state, TopicCommand.Change command) {
    StateSnapshot view = state.view();
    TopicConfig present = view.topic(command.spec().name());
    if (present == null || present.revision() != command.expectedRevision()) {
      return mismatch(state, present, command.expectedRevision());
    }
    TopicConfig topic = new TopicConfig(command.spec(), present.created(), view.version());
    return new Applied(
        state.with(view.with(topic), state.nextNumber()),
        new CommandResult.TopicChanged(view.version()),
        List.of(new RegistryChange.TopicChanged(topic, present)));
  }

  private static Applied delete(RegistryState state, TopicCommand.Delete command) {
    StateSnapshot view = state.view();
    TopicConfig present = view.topic(command.name());
    if (present == null || present.revision() != command.expectedRevision()) {
      return mismatch(state, present, command.expectedRevision());
    }
    return new Applied(
        state.with(view.without(present), state.nextNumber()),
        new CommandResult.TopicDeleted(view.version()),
        List.of(new RegistryChange.TopicDeleted(present)));
  }

  private static Applied mismatch(
      RegistryState state, @Nullable TopicConfig present, long expectedRevision) {
    if (present == null) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.UNKNOWN_TOPIC,
          "the topic has no configuration (expected: one)");
    }
    return StateMachine.refused(
        state,
        RegistryRefusalReason.STALE_REVISION,
        "expectedRevision: " + expectedRevision + " (expected: " + present.revision() + ")");
  }
}
