package io.eventbus.server.cluster;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import java.util.ArrayList;
import java.util.List;

/**
 * Alternatives for clients of this bus: the addresses of other buses that are UP, first those that
 * follow this one in the order of the ids, so that not everybody names the same ones. Written by
 * the registry's thread, read by any.
 */
final class OtherBuses implements RegistryListener {
  /** Maximum of addresses: more than a client can use are only more bytes in each Welcome. */
  static final int MAX_BUSES = 16;

  private final BusId self;
  private volatile List<String> addresses = List.of();

  OtherBuses(BusId self) {
    this.self = self;
  }

  List<String> addresses() {
    return addresses;
  }

  @Override
  public void onSnapshot(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    List<String> after = new ArrayList<>();
    List<String> before = new ArrayList<>();
    for (BusInfo bus : snapshot.buses()) {
      if (bus.state() == BusState.UP && !bus.id().equals(self)) {
        String address = bus.addresses().clients().get(0);
        (bus.id().compareTo(self) > 0 ? after : before).add(address);
      }
    }
    after.addAll(before);
    List<String> found = after.subList(0, Math.min(MAX_BUSES, after.size()));
    if (!found.equals(addresses)) {
      addresses = List.copyOf(found);
    }
  }
}
