package io.eventbus.server.cluster;

import io.eventbus.registry.Registry;
import io.eventbus.registry.ratis.RatisRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The cluster as the administration sees it from this bus.
 *
 * <p>Any thread may call any method at any time between the start and the end of the bus. An
 * implementation must not block and must not throw.
 */
public interface ClusterView {
  /** Returns the registry, which may not be reachable. */
  Registry registry();

  /** Returns what keeps the registry the same on all buses. */
  Optional<RatisRegistry> consensus();

  /** Says how this bus stands in its cluster. */
  MembershipStatus standing();

  /** Says how long ago the registry last heard of this bus. */
  Duration leaseAge();

  /**
   * Counts the connections to {@code cluster.port} that were refused.
   *
   * @return how many since the start, by reason; empty for a bus that serves alone
   */
  Map<String, Long> refusedLinks();
}
