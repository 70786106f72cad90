package io.eventbus.server.cluster;

import org.jspecify.annotations.Nullable;

/**
 * Status of a bus in its cluster at one moment.
 *
 * @param cluster name of the cluster; empty for a bus that serves alone
 * @param clusterId the number that the cluster was given when it was founded; empty before this bus
 *     belongs to one
 * @param state this bus's state in the registry as this bus knows it: JOINING, UP, DRAINING, DOWN,
 *     or NONE for not registered
 * @param leader the bus that leads, as far as this one knows; null for none
 * @param term the term of the consensus; -1 for none
 * @param silenceMillis for how long this bus may have missed what the leader knows
 * @param detail what it waits for or what is wrong, for people; empty when all is well
 */
public record MembershipStatus(
    Phase phase,
    String cluster,
    String clusterId,
    String role,
    String state,
    @Nullable String leader,
    long term,
    long silenceMillis,
    String detail) {
  /** Phase of a bus's membership. */
  public enum Phase {
    /** Looks for its cluster, or waits for the registry to know it. */
    JOINING,
    /**
     * Is known to the registry; from then on it serves, whether the registry is reachable or not.
     */
    MEMBER,
    /** Has a registry that has failed and will not recover in this process. */
    FAILED
  }
}
