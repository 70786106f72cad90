package io.eventbus.registry;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Status of the registry as seen from one bus, for operators and their monitoring.
 *
 * @param cluster the cluster's id; empty if this bus belongs to none
 * @param bus this bus; null if a bus that runs alone has not registered yet
 * @param role its role
 * @param leader the bus that leads, as far as this one knows; null for none
 * @param term the term of the election of the leader; -1 for unknown
 * @param leaderChanges the number of changes of leader that this bus has seen since it started
 * @param changing whether the members are being changed
 * @param version the registry's version here
 * @param log the log of this bus
 * @param leaseAge the time, in registry time, since this bus's lease was renewed; null without one
 * @param silence the maximum time for which this bus may not have heard what the leader knows
 * @param commits the latency of commits while this bus led
 */
public record RegistryStatus(
    String cluster,
    @Nullable BusId bus,
    MemberRole role,
    @Nullable BusId leader,
    long term,
    long leaderChanges,
    boolean changing,
    long version,
    Log log,
    @Nullable Duration leaseAge,
    Duration silence,
    CommitLatency commits) {
  /**
   * Takes the values.
   *
   * @param cluster as above
   * @param bus as above
   * @param role as above
   * @param leader as above
   * @param term as above
   * @param leaderChanges as above
   * @param changing as above
   * @param version as above
   * @param log as above
   * @param leaseAge as above
   * @param silence as above
   * @param commits as above
   */
  public RegistryStatus {
    Objects.requireNonNull(cluster, "cluster");
    Objects.requireNonNull(role, "role");
    Objects.requireNonNull(log, "log");
    Objects.requireNonNull(silence, "silence");
    Objects.requireNonNull(commits, "commits");
  }

  /**
   * Log of one bus.
   *
   * @param committedIndex the index up to which it is known to be on a majority of the disks; -1
   *     for nothing
   * @param appliedIndex the index up to which it is applied here; -1 for nothing
   * @param snapshotIndex the index of the newest snapshot here; -1 for none
   * @param entries the number of entries that the log holds here
   * @param bytes the size of its files in bytes, space set aside included
   */
  public record Log(
      long committedIndex, long appliedIndex, long snapshotIndex, long entries, long bytes) {
    /** Value for a missing log. */
    public static final Log NONE = new Log(-1, -1, -1, 0, 0);

    /**
     * Returns the number of entries that are committed and not yet applied here.
     *
     * @return the count, not negative
     */
    public long applyLag() {
      return Math.max(0, committedIndex - appliedIndex);
    }
  }
}
