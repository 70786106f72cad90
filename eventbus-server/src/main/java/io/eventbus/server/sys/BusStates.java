package io.eventbus.server.sys;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.server.advisory.Advisory;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reporter of state changes of peers. Called by the registry's thread. */
final class BusStates implements RegistryListener {
  private final BusId self;
  private final BooleanSupplier isMember;
  private final Consumer<Advisory> advisories;

  BusStates(BusId self, BooleanSupplier isMember, Consumer<Advisory> advisories) {
    this.self = self;
    this.isMember = isMember;
    this.advisories = advisories;
  }

  @Override
  public void onSnapshot(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    for (RegistryChange change : changes) {
      if (change instanceof RegistryChange.BusStateChanged changed) {
        tell(changed.bus(), changed.bus().state().name(), changed.from().name());
      } else if (change instanceof RegistryChange.BusRemoved removed) {
        tell(removed.bus(), null, removed.bus().state().name());
      }
    }
  }

  private void tell(BusInfo bus, @Nullable String state, String before) {
    if (!bus.id().equals(self) && isMember.getAsBoolean()) {
      advisories.accept(new Advisory.BusStateChanged(bus.id().value(), state, before));
    }
  }
}
