package io.eventbus.registry.placement;

import io.eventbus.registry.BusId;
import io.eventbus.registry.ShardReplica;
import java.util.Comparator;
import java.util.Objects;

/**
 * Identity of a replica.
 *
 * @param bus the bus that holds it
 * @param generation the generation of the data directory that it is in
 */
public record ReplicaId(BusId bus, int generation) implements Comparable<ReplicaId> {
  private static final Comparator<ReplicaId> ORDER =
      Comparator.comparing(ReplicaId::bus).thenComparingInt(ReplicaId::generation);

  /** Checks that there is a bus. */
  public ReplicaId {
    Objects.requireNonNull(bus, "bus");
  }

  /** Returns the identity of a replica, whether it votes or not. */
  public static ReplicaId of(ShardReplica replica) {
    return new ReplicaId(replica.bus(), replica.generation());
  }

  /** Compares by bus, then by generation. */
  @Override
  public int compareTo(ReplicaId other) {
    return ORDER.compare(this, other);
  }
}
