package io.eventbus.registry.ratis.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cluster as seen from one bus.
 *
 * @param cluster the cluster's id; empty if this bus belongs to none yet
 * @param leader the bus that leads, as far as this one knows; null for none
 * @param term the current term; -1 before it runs
 * @param listeners the buses that only follow
 * @param changing whether the members are being changed; until that is done, a majority of both the
 *     former voters and the new ones is needed
 * @param appliedIndex the index up to which the log is applied here; -1 for nothing
 */
public record ClusterStatus(
    String cluster,
    String bus,
    Role role,
    @Nullable String leader,
    long term,
    List<String> voters,
    List<String> listeners,
    boolean changing,
    long appliedIndex) {
  /** Role of a bus in its cluster. */
  public enum Role {
    /** Voter that gives the commands their order. */
    LEADER,
    /** Member that votes and keeps the log. */
    VOTER,
    /** Member that keeps the log and does not vote. */
    LISTENER,
    /** No member, or not yet. */
    NONE
  }

  /** Copies the lists. */
  public ClusterStatus {
    voters = List.copyOf(voters);
    listeners = List.copyOf(listeners);
  }
}
