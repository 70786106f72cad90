package io.eventbus.server.cluster;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logger of peers' states: an operator who reads one log only sees there that a peer is DOWN.
 * Called by the registry's thread.
 */
final class BusStateLog implements RegistryListener {
  private final BusId self;
  private final BooleanSupplier begun;
  private final Logger log;

  /**
   * Creates a listener.
   *
   * @param begun whether this bus is a member: reports before that are history
   */
  BusStateLog(BusId self, BooleanSupplier begun) {
    this(self, begun, LoggerFactory.getLogger(BusStateLog.class));
  }

  BusStateLog(BusId self, BooleanSupplier begun, Logger log) {
    this.self = self;
    this.begun = begun;
    this.log = log;
  }

  @Override
  public void onSnapshot(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    if (!begun.getAsBoolean()) {
      return;
    }
    for (RegistryChange change : changes) {
      if (change instanceof RegistryChange.BusStateChanged changed && isOther(changed.bus())) {
        log.info(
            "Bus {} is {} (was {})", changed.bus().id(), changed.bus().state(), changed.from());
      } else if (change instanceof RegistryChange.BusRemoved removed && isOther(removed.bus())) {
        log.info("Bus {} was removed from the cluster", removed.bus().id());
      }
    }
  }

  private boolean isOther(BusInfo bus) {
    return !bus.id().equals(self);
  }
}
