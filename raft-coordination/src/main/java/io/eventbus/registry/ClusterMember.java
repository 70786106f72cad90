package io.eventbus.registry;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Bus of the cluster, as another one sees it.
 *
 * @param bus the bus
 * @param role its role; NONE for a bus that the registry knows and that is no member
 * @param address the address of its links, as the members know it; empty if they do not
 * @param info its entry in the registry; null for a member that has not registered
 * @param logIndex the index up to which its log is known to agree with a majority's; -1 for
 *     unknown. The leader knows it best
 * @param leaseLeftMillis the rest of its lease, in milliseconds of registry time; 0 for run out or
 *     none
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
