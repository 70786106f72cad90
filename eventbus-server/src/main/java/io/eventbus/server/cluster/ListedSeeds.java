package io.eventbus.server.cluster;

import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.SeedSource;
import io.eventbus.server.config.ClusterConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The buses that the configuration lists. */
final class ListedSeeds implements SeedSource {
  private final List<Endpoint> listed;
  private final int founders;

  ListedSeeds(ClusterConfig config) {
    this.listed =
        config.join().stream().map(other -> new Endpoint(other.host(), other.port())).toList();
    this.founders = config.founders();
  }

  @Override
  public List<Endpoint> seeds() {
    return listed;
  }

  @Override
  public @Nullable String missing(int buses) {
    return buses >= founders
        ? null
        : "only " + buses + " of " + founders + " buses (cluster.founders) have been found";
  }
}
