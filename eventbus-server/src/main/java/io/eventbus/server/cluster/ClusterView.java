package io.eventbus.server.cluster;

import io.eventbus.registry.Registry;
import io.eventbus.registry.ratis.RatisRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * View of the cluster from this bus, for the administration.
 *
 * <p>Any thread may call any method at any time between the start and the end of the bus. An
 * implementation must not block and must not throw.
 */
public interface ClusterView {
  /** Returns the registry, which may not be reachable. */
  Registry registry();

  /** Returns what keeps the registry the same on all buses. */
  Optional<RatisRegistry> consensus();

  /** Returns the status of this bus in its cluster. */
  MembershipStatus standing();

  /** Returns the time since the registry last received anything of this bus. */
  Duration leaseAge();

  /**
   * Returns the number of refused connections to {@code cluster.port} since the start, by reason;
   * empty for a bus that serves alone.
   */
  Map<String, Long> refusedLinks();
}
