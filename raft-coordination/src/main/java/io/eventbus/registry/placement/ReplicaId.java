package io.eventbus.registry.placement;

import io.eventbus.registry.BusId;
import io.eventbus.registry.ShardReplica;
import java.util.Objects;

/**
 * Identity of a replica.
 *
 * @param bus the bus that holds it
 * @param generation the generation of the data directory that it is in
 */
public record ReplicaId(BusId bus, int generation) {
  /** Checks that there is a bus. */
  public ReplicaId {
    Objects.requireNonNull(bus, "bus");
  }

  /** Returns the identity of a replica, whether it votes or not. */
  public static ReplicaId of(ShardReplica replica) {
    return new ReplicaId(replica.bus(), replica.generation());
  }
}
