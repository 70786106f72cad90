package io.eventbus.registry;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One bus of the cluster, as another one sees it.
 *
 * @param bus the bus
 * @param role what it does; NONE for a bus that the registry knows and that is no member
 * @param address where its links are reached, as the members know it; empty if they do not
 * @param info what the registry knows of it; null for a member that has not registered
 * @param logIndex up to where of the log it is known to have what a majority has; -1 for unknown.
 *     The leader knows it best
 * @param leaseLeftMillis how long its lease still runs, in milliseconds of registry time; 0 for run
 *     out or none
 */
public record ClusterMember(
    BusId bus,
    MemberRole role,
    String address,
    @Nullable BusInfo info,
    long logIndex,
    long leaseLeftMillis) {
  /**
   * Takes the values.
   *
   * @param bus as above
   * @param role as above
   * @param address as above
   * @param info as above
   * @param logIndex as above
   * @param leaseLeftMillis as above
   */
  public ClusterMember {
    Objects.requireNonNull(bus, "bus");
    Objects.requireNonNull(role, "role");
    Objects.requireNonNull(address, "address");
  }
}
