package io.eventbus.server.cluster;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Buses that have announced themselves lately: a silent one is forgotten, and there is only room
 * for some. Any thread.
 */
final class DiscoveredBuses {
  /** Maximum of buses: a bus needs one that answers, not all of them. */
  static final int MAX_BUSES = 64;

  private record Heard(Endpoint address, long nanos) {}

  private final long memoryNanos;
  private final Map<BusId, Heard> byBus = new LinkedHashMap<>();

  DiscoveredBuses(long memoryNanos) {
    this.memoryNanos = memoryNanos;
  }

  synchronized void heard(Announcement said, long now) {
    forget(now);
    if (byBus.size() < MAX_BUSES || byBus.containsKey(said.bus())) {
      byBus.put(said.bus(), new Heard(said.address(), now));
    }
  }

  synchronized List<Endpoint> addresses(long now) {
    forget(now);
    return byBus.values().stream().map(Heard::address).distinct().toList();
  }

  private void forget(long now) {
    for (Iterator<Heard> all = byBus.values().iterator(); all.hasNext(); ) {
      if (now - all.next().nanos() > memoryNanos) {
        all.remove();
      }
    }
  }
}
