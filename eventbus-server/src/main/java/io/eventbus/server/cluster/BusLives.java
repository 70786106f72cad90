package io.eventbus.server.cluster;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistrySnapshot;
import java.util.function.Supplier;

/**
 * Names for the lives of buses: each bus that knows the registry can say whether one has ended. Any
 * thread.
 */
public final class BusLives {
  private final BusId self;
  private final Supplier<RegistrySnapshot> registry;

  /**
   * Creates the names.
   *
   * @param registry returns the newest snapshot, and does not wait
   */
  public BusLives(BusId self, Supplier<RegistrySnapshot> registry) {
    this.self = self;
    this.registry = registry;
  }

  /** Returns the name of this bus's life; one that has ended while the bus is not registered. */
  public String own() {
    BusInfo bus = registry.get().bus(self);
    return name(self, bus == null ? 0 : bus.number());
  }

  /**
   * Returns whether a life is known to have ended; true for a text that names none. A bus that is
   * not registered itself knows of no end: its registry may be old, or empty.
   */
  public boolean hasEnded(String name) {
    RegistrySnapshot now = registry.get();
    BusInfo here = now.bus(self);
    if (here == null || here.state() == BusState.DOWN) {
      return false;
    }
    int slash = name.lastIndexOf('/');
    for (BusInfo bus : now.buses()) {
      if (slash == bus.id().toString().length()
          && bus.state() != BusState.DOWN
          && name(bus.id(), bus.number()).equals(name)) {
        return false;
      }
    }
    return true;
  }

  private static String name(BusId bus, int number) {
    return bus + "/" + number;
  }
}
