package io.eventbus.server;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.server.admin.BusStats;
import io.eventbus.server.cluster.ClusterStanding;
import io.eventbus.server.cluster.ClusterView;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The figures of the registry for the metrics. */
final class RegistryFigures {
  private RegistryFigures() {}

  static BusStats.Registry of(ClusterView cluster) {
    ClusterStanding standing = cluster.standing();
    Map<String, Long> buses = new LinkedHashMap<>();
    for (BusState state : BusState.values()) {
      buses.put(label(state), 0L);
    }
    for (BusInfo bus : cluster.registry().snapshot().buses()) {
      buses.merge(label(bus.state()), 1L, Long::sum);
    }
    return new BusStats.Registry(
        buses,
        standing.role().equals("LEADER"),
        Math.max(0, standing.term()),
        cluster.leaseAge().toMillis() / 1e3,
        standing.silenceMillis() / 1e3);
  }

  private static String label(BusState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
