package io.eventbus.registry;

import java.util.Objects;

/**
 * Replica of a shard.
 *
 * @param bus the bus that holds it
 * @param generation the generation of the data directory that it is in, see {@link
 *     BusDescription#storage()}
 * @param voter whether it counts for the majority; otherwise it only follows
 */
public record ShardReplica(BusId bus, int generation, boolean voter) {
  /**
   * Checks the values.
   *
   * @param bus as above
   * @param generation as above
   * @param voter as above
   * @throws IllegalArgumentException if the generation is not positive
   */
  public ShardReplica {
    Objects.requireNonNull(bus, "bus");
    RegistryChecks.range("generation", generation, 1, Integer.MAX_VALUE);
  }
}
