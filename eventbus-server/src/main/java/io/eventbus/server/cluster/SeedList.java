package io.eventbus.server.cluster;

import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.join.SeedSource;
import io.eventbus.server.config.ClusterConfig;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Seeds: the buses that the configuration lists, and those that were found on the local network.
 */
final class SeedList implements SeedSource {
  private final List<Endpoint> listed;
  private final int founders;
  private final @Nullable Discovery discovery;

  SeedList(ClusterConfig config, @Nullable Discovery discovery) {
    this.listed =
        config.join().stream().map(other -> new Endpoint(other.host(), other.port())).toList();
    this.founders = config.founders();
    this.discovery = discovery;
  }

  @Override
  public List<Endpoint> seeds() {
    if (discovery == null) {
      return listed;
    }
    List<Endpoint> all = new ArrayList<>(listed);
    all.addAll(discovery.addresses());
    return all;
  }

  @Override
  public @Nullable String missing(int buses) {
    if (discovery != null && !discovery.isSettled()) {
      return "the end of the search on the local network";
    }
    return buses >= founders
        ? null
        : "more buses: "
            + buses
            + " of "
            + founders
            + " (cluster.founders) have been found, this one included";
  }
}
