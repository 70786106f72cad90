package io.eventbus.registry;

import java.util.List;

/** Command about shards, the groups of replicas of durable topics. */
public sealed interface ShardCommand extends RegistryCommand {
  @Override
  default int neededProtocol() {
    return BusDescription.STORAGE_PROTOCOL;
  }

  /**
   * Sets the replicas of a shard, by compare-and-set. The answer is {@link
   * CommandResult.ShardPlaced}.
   *
   * <p>It is refused with {@link RegistryRefusalReason#STALE_SHARD} if the shard has another
   * version. A replica that is new or has changed has to be at a bus that is registered and
   * announces that generation, or the command is refused with {@link
   * RegistryRefusalReason#UNKNOWN_BUS} or {@link RegistryRefusalReason#STORAGE_DIFFERS}. A replica
   * that the shard has just so may stay whatever became of its bus: otherwise a bus that is gone
   * would hold up every other change.
   *
   * @param number the shard: 1 to {@link ShardInfo#MAX_SHARDS}
   * @param expectedVersion the version of the shard that this is to replace; 0 if there must be
   *     none
   * @param replicas all replicas, see {@link ShardInfo#replicas()}
   */
  record Place(int number, long expectedVersion, List<ShardReplica> replicas)
      implements ShardCommand {
    /**
     * Checks the values and sorts the replicas.
     *
     * @param number as above
     * @param expectedVersion as above
     * @param replicas as above, in any order
     * @throws IllegalArgumentException if a value is illegal, saying which and why
     */
    public Place {
      ShardInfo.checkNumber(number);
      RegistryChecks.range("expectedVersion", expectedVersion, 0, Long.MAX_VALUE);
      replicas = ShardInfo.checked(replicas);
    }

    @Override
    public int estimatedBytes() {
      return 256 + 256 * replicas.size();
    }
  }
}
