package io.eventbus.registry.state;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Lease;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryRefusalReason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Transitions by commands about buses; the given state has the new version already. */
final class BusTransitions {
  private BusTransitions() {}

  static Applied apply(RegistryState state, BusCommand command) {
    if (command instanceof BusCommand.Register register) {
      return register(state, register);
    }
    if (command instanceof BusCommand.ExpireLeases) {
      return expireLeases(state);
    }
    if (command instanceof BusCommand.ChangeState change) {
      BusInfo bus = state.view().bus(change.bus());
      if (bus == null || bus.epoch() != change.epoch()) {
        return mismatch(state, bus, change.bus(), change.epoch());
      }
      return changeState(state, bus, change.next());
    }
    if (command instanceof BusCommand.RenewLease renew) {
      BusInfo bus = state.view().bus(renew.bus());
      if (bus == null || bus.epoch() != renew.epoch()) {
        return mismatch(state, bus, renew.bus(), renew.epoch());
      }
      return renewLease(state, bus, renew.leaseMillis());
    }
    if (command instanceof BusCommand.Remove remove) {
      BusInfo bus = state.view().bus(remove.bus());
      if (bus == null || bus.epoch() != remove.epoch()) {
        return mismatch(state, bus, remove.bus(), remove.epoch());
      }
      return remove(state, bus);
    }
    throw new AssertionError("sealed: " + command.getClass());
  }

  private static Applied register(RegistryState state, BusCommand.Register command) {
    StateSnapshot view = state.view();
    BusId id = command.description().id();
    BusInfo previous = view.bus(id);
    if (previous != null && isInUse(previous, command.replacesEpoch(), view.timeMillis())) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.BUS_ID_IN_USE,
          "bus "
              + id
              + " is "
              + previous.state()
              + " in epoch "
              + previous.epoch()
              + ", with a lease for another "
              + (previous.lease().expiresAtMillis() - view.timeMillis())
              + " ms (expected: DOWN, or replacesEpoch "
              + previous.epoch()
              + ", not "
              + command.replacesEpoch()
              + ")");
    }
    int max = state.limits().maxBuses();
    if (previous == null && view.busesById().size() >= max) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.TOO_MANY_BUSES,
          "buses: " + view.busesById().size() + " (expected: < " + max + ")");
    }
    long number = state.nextNumber();
    if (number > Integer.MAX_VALUE) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.NO_NUMBER_LEFT,
          "number: " + number + " (expected: <= " + Integer.MAX_VALUE + ")");
    }
    long epoch = view.version();
    Lease lease = lease(view, command.leaseMillis());
    BusInfo bus = new BusInfo(command.description(), (int) number, epoch, BusState.JOINING, lease);
    return new Applied(
        state.with(view.with(bus), number + 1),
        new CommandResult.BusRegistered(
            view.version(), bus.number(), epoch, lease.expiresAtMillis()),
        List.of(new RegistryChange.BusRegistered(bus, previous)));
  }

  private static boolean isInUse(BusInfo bus, long replacesEpoch, long timeMillis) {
    return bus.state() != BusState.DOWN
        && bus.epoch() != replacesEpoch
        && !bus.lease().isExpiredAt(timeMillis);
  }

  private static Applied changeState(RegistryState state, BusInfo bus, BusState next) {
    if (!bus.state().canBecome(next)) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.ILLEGAL_TRANSITION,
          "bus "
              + bus.id()
              + " is "
              + bus.state()
              + " (expected: a state that may become "
              + next
              + ")");
    }
    StateSnapshot view = state.view();
    BusInfo moved = bus.withState(next);
    return new Applied(
        state.with(view.with(moved), state.nextNumber()),
        new CommandResult.BusStateChanged(view.version(), bus.state(), next),
        List.of(new RegistryChange.BusStateChanged(moved, bus.state())));
  }

  private static Applied renewLease(RegistryState state, BusInfo bus, long leaseMillis) {
    if (bus.state() == BusState.DOWN) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.BUS_IS_DOWN,
          "bus " + bus.id() + " is DOWN (expected: JOINING, UP or DRAINING)");
    }
    StateSnapshot view = state.view();
    Lease asked = lease(view, leaseMillis);
    Lease lease = asked.expiresAtMillis() > bus.lease().expiresAtMillis() ? asked : bus.lease();
    return new Applied(
        state.with(view.with(bus.withLease(lease)), state.nextNumber()),
        new CommandResult.LeaseRenewed(view.version(), lease.expiresAtMillis()),
        List.of());
  }

  private static Applied expireLeases(RegistryState state) {
    StateSnapshot before = state.view();
    StateSnapshot view = before;
    List<BusId> expired = new ArrayList<>();
    List<RegistryChange> changes = new ArrayList<>();
    for (BusInfo bus : before.buses()) {
      if (bus.state() != BusState.DOWN && bus.lease().isExpiredAt(before.timeMillis())) {
        BusInfo down = bus.withState(BusState.DOWN);
        view = view.with(down);
        expired.add(bus.id());
        changes.add(new RegistryChange.BusStateChanged(down, bus.state()));
      }
    }
    return new Applied(
        state.with(view, state.nextNumber()),
        new CommandResult.LeasesExpired(view.version(), expired),
        changes);
  }

  private static Applied remove(RegistryState state, BusInfo bus) {
    if (bus.state() != BusState.DOWN) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.BUS_NOT_DOWN,
          "bus " + bus.id() + " is " + bus.state() + " (expected: DOWN)");
    }
    StateSnapshot view = state.view();
    return new Applied(
        state.with(view.without(bus), state.nextNumber()),
        new CommandResult.BusRemoved(view.version()),
        List.of(new RegistryChange.BusRemoved(bus)));
  }

  /** Returns a lease from now on; at the end of time it stops growing and does not overflow. */
  private static Lease lease(StateSnapshot view, long leaseMillis) {
    long now = view.timeMillis();
    return new Lease(
        leaseMillis, now > Long.MAX_VALUE - leaseMillis ? Long.MAX_VALUE : now + leaseMillis);
  }

  private static Applied mismatch(
      RegistryState state, @Nullable BusInfo bus, BusId id, long epoch) {
    if (bus == null) {
      return StateMachine.refused(
          state, RegistryRefusalReason.UNKNOWN_BUS, "bus " + id + " is not registered");
    }
    return StateMachine.refused(
        state,
        RegistryRefusalReason.STALE_EPOCH,
        "epoch of bus " + id + ": " + epoch + " (expected: " + bus.epoch() + ")");
  }
}
