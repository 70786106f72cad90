package io.eventbus.registry.placement;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.Samples;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;

/** Registry whose state is made by commands. */
final class Scene {
  RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);

  CommandResult apply(RegistryCommand command) {
    long version = state.snapshot().version();
    Applied applied =
        StateMachine.apply(
            state, new TimedCommand(new CommandId(version, 0, version), 1_000, command));
    state = applied.state();
    return applied.result();
  }

  /** Registers a bus, which is JOINING then. */
  void register(String bus, String zone, int storage) {
    apply(new BusCommand.Register(Samples.bus(bus, zone, storage), epoch(bus), 1_000));
  }

  /** Registers a bus and brings it into a state. */
  void bus(String bus, String zone, int storage, BusState wanted) {
    register(bus, zone, storage);
    if (wanted != BusState.JOINING) {
      change(bus, BusState.UP);
    }
    if (wanted != BusState.UP && wanted != BusState.JOINING) {
      change(bus, wanted);
    }
  }

  void change(String bus, BusState next) {
    apply(new BusCommand.ChangeState(new BusId(bus), Math.max(1, epoch(bus)), next));
  }

  /** Removes a bus for good. */
  void remove(String bus) {
    change(bus, BusState.DOWN);
    apply(new BusCommand.Remove(new BusId(bus), Math.max(1, epoch(bus))));
  }

  private long epoch(String bus) {
    BusInfo info = state.snapshot().bus(new BusId(bus));
    return info == null ? 0 : info.epoch();
  }
}
