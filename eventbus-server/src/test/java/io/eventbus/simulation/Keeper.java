package io.eventbus.simulation;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import org.jspecify.annotations.Nullable;

/**
 * Keeper that registers a simulated bus by the rules of {@code LeaseKeeper}: registers, goes UP,
 * renews three times in a lease, tries again after a tenth of it, and begins a new life when it has
 * been taken DOWN.
 */
final class Keeper {
  private static final long MAX_WAIT = 5 * Simulator.SECOND;

  private final Simulator simulator;
  private final Consensus consensus;
  private final int bus;
  private final String name;
  private final long leaseMillis;
  private long epoch;
  private boolean up;

  Keeper(Simulator simulator, Consensus consensus, int bus, String name, long leaseMillis) {
    this.simulator = simulator;
    this.consensus = consensus;
    this.bus = bus;
    this.name = name;
    this.leaseMillis = leaseMillis;
  }

  void turn() {
    BusId id = new BusId(name);
    if (epoch == 0) {
      BusInfo known = consensus.bus(name);
      submit(
          new BusCommand.Register(
              Consensus.describe(name), known == null ? 0 : known.epoch(), leaseMillis));
    } else if (!up) {
      submit(new BusCommand.ChangeState(id, epoch, BusState.UP));
    } else {
      submit(new BusCommand.RenewLease(id, epoch, leaseMillis));
    }
  }

  private void submit(BusCommand command) {
    consensus.submit(
        bus,
        command,
        simulator.now() + Math.min(MAX_WAIT, leaseMillis * Simulator.MILLI),
        this::answered);
  }

  private void answered(@Nullable CommandResult result) {
    long lease = leaseMillis * Simulator.MILLI;
    if (result == null) {
      simulator.after(lease / 10, this::turn);
    } else if (result instanceof CommandResult.Refused) {
      epoch = 0;
      up = false;
      simulator.after(lease / 10, this::turn);
    } else if (result instanceof CommandResult.BusRegistered registered) {
      epoch = registered.epoch();
      turn();
    } else {
      up = true;
      simulator.after(lease / 3, this::turn);
    }
  }
}
