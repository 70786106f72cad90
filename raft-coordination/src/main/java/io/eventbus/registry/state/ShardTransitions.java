package io.eventbus.registry.state;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Transitions by commands about shards; the given state has the new version already. */
final class ShardTransitions {
  private ShardTransitions() {}

  static Applied apply(RegistryState state, ShardCommand command) {
    if (command instanceof ShardCommand.Place place) {
      return place(state, place);
    }
    throw new AssertionError("sealed: " + command.getClass());
  }

  private static Applied place(RegistryState state, ShardCommand.Place command) {
    StateSnapshot view = state.view();
    ShardInfo present = view.shard(command.number());
    long version = present == null ? 0 : present.version();
    if (command.expectedVersion() != version) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.STALE_SHARD,
          "expectedVersion of shard "
              + command.number()
              + ": "
              + command.expectedVersion()
              + " (expected: "
              + (present == null ? "0, there is no such shard" : version)
              + ")");
    }
    for (ShardReplica replica : command.replicas()) {
      Applied refused = refusal(state, present, replica);
      if (refused != null) {
        return refused;
      }
    }
    ShardInfo shard = new ShardInfo(command.number(), view.version(), command.replicas());
    return new Applied(
        state.with(view.with(shard), state.nextNumber()),
        new CommandResult.ShardPlaced(view.version()),
        List.of(new RegistryChange.ShardPlaced(shard, present)));
  }

  private static @Nullable Applied refusal(
      RegistryState state, @Nullable ShardInfo present, ShardReplica replica) {
    if (present != null && present.replicas().contains(replica)) {
      return null;
    }
    BusInfo bus = state.view().bus(replica.bus());
    if (bus == null) {
      return StateMachine.refused(
          state, RegistryRefusalReason.UNKNOWN_BUS, "bus " + replica.bus() + " is not registered");
    }
    int storage = bus.description().storage();
    if (storage != replica.generation()) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.STORAGE_DIFFERS,
          "generation at bus "
              + replica.bus()
              + ": "
              + replica.generation()
              + " (expected: "
              + (storage == 0 ? "no replica, the bus has no data directory" : storage)
              + ")");
    }
    return null;
  }
}
