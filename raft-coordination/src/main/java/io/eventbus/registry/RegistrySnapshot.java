package io.eventbus.registry;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Snapshot of the whole registry at one version.
 *
 * <p>Implementers: a snapshot is immutable, any thread reads it without locks, and no method
 * blocks. It must not change when the registry goes on, and two snapshots of one registry with the
 * same version must be equal on every bus.
 */
public interface RegistrySnapshot {
  /**
   * Returns the version: the number of applied commands, repeated ones not counted.
   *
   * @return 0 for an empty registry; it never goes back
   */
  long version();

  /**
   * Returns the registry's time: the latest time that came in with a command. It never goes back
   * and does not have to agree with the clock of this bus.
   *
   * @return milliseconds
   */
  long timeMillis();

  /**
   * Finds a bus by its id, in O(log n).
   *
   * @param id the id
   * @return the bus, or null if there is none
   */
  @Nullable BusInfo bus(BusId id);

  /**
   * Finds a bus by the number of its present life, in O(log n).
   *
   * @param number the number, see {@link BusInfo#number()}
   * @return the bus, or null if no present life has that number
   */
  @Nullable BusInfo bus(int number);

  /**
   * Returns all buses.
   *
   * @return an immutable view in the order of the ids; its size is known at once
   */
  Collection<BusInfo> buses();

  /**
   * Finds the configuration of a topic, in O(log n).
   *
   * @param name the topic
   * @return the configuration, or null if the topic has none
   */
  @Nullable TopicConfig topic(String name);

  /**
   * Returns all topic configurations.
   *
   * @return an immutable view in the order of the topics; its size is known at once
   */
  Collection<TopicConfig> topics();

  /**
   * Finds the revocation of a client, in O(log n).
   *
   * @param who the client
   * @return the revocation, or null if there is none
   */
  @Nullable Revocation revocation(AccountSubject who);

  /**
   * Returns all revocations.
   *
   * @return an immutable view in the order of accounts and subjects; its size is known at once
   */
  Collection<Revocation> revocations();

  /**
   * Finds a shard, in O(log n).
   *
   * @param number the shard, see {@link ShardInfo#number()}
   * @return the shard, or null if there is none
   */
  @Nullable ShardInfo shard(int number);

  /**
   * Returns all shards.
   *
   * @return an immutable view in the order of the numbers; its size is known at once
   */
  Collection<ShardInfo> shards();
}
