package io.eventbus.registry;

import java.util.Objects;

/**
 * Entry of one bus in the registry.
 *
 * @param description the bus's own description
 * @param number a small positive number that stands for this life of this bus and is never given
 *     out again, neither to another bus nor to this one when it comes back: whatever a bus numbers
 *     itself is unique in the cluster when this number is part of it
 * @param epoch the version of the registry with which this life began, so greater in every life; a
 *     command about the bus names it, so that a late one cannot reach the next life
 * @param state the state of the bus
 * @param lease the time until which it counts as alive
 */
public record BusInfo(
    BusDescription description, int number, long epoch, BusState state, Lease lease) {
  /**
   * Checks the values.
   *
   * @param description as above
   * @param number as above
   * @param epoch as above
   * @param state as above
   * @param lease as above
   * @throws IllegalArgumentException if the number or the epoch is not positive
   */
  public BusInfo {
    Objects.requireNonNull(description, "description");
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(lease, "lease");
    RegistryChecks.range("number", number, 1, Integer.MAX_VALUE);
    RegistryChecks.range("epoch", epoch, 1, Long.MAX_VALUE);
  }

  /**
   * Returns the name of the bus.
   *
   * @return the id from the description
   */
  public BusId id() {
    return description.id();
  }

  /**
   * Returns the addresses of the bus.
   *
   * @return the addresses from the description
   */
  public BusAddresses addresses() {
    return description.addresses();
  }

  /**
   * Returns a copy in another state; the caller has to know that the change is legal.
   *
   * @param next the state of the copy
   * @return the copy
   */
  public BusInfo withState(BusState next) {
    return new BusInfo(description, number, epoch, next, lease);
  }

  /**
   * Returns a copy with another lease.
   *
   * @param next the lease of the copy
   * @return the copy
   */
  public BusInfo withLease(Lease next) {
    return new BusInfo(description, number, epoch, state, next);
  }
}
