package io.eventbus.registry;

import java.util.Objects;

/** Command about buses. */
public sealed interface BusCommand extends RegistryCommand {

  /**
   * Begins a life of a bus, in the state {@link BusState#JOINING}, with a new number and a later
   * epoch. The answer is {@link CommandResult.BusRegistered}.
   *
   * <p>An id that is in use is refused with {@link RegistryRefusalReason#BUS_ID_IN_USE}, so that
   * two processes with one name do not fight. In use is an id whose bus is not DOWN and holds a
   * lease that has not run out. A bus that was restarted and knows its last epoch gives it, and
   * need not wait for its own lease to run out.
   *
   * @param description the bus's own description
   * @param replacesEpoch the epoch of the life that this one replaces; 0 for none known
   * @param leaseMillis how long the bus counts as alive without a renewal, see {@link Lease}
   */
  record Register(BusDescription description, long replacesEpoch, long leaseMillis)
      implements BusCommand {
    /**
     * Checks the values.
     *
     * @param description as above
     * @param replacesEpoch as above
     * @param leaseMillis as above
     * @throws IllegalArgumentException if the epoch or the lease is out of its range
     */
    public Register {
      Objects.requireNonNull(description, "description");
      RegistryChecks.range("replacesEpoch", replacesEpoch, 0, Long.MAX_VALUE);
      RegistryChecks.range("leaseMillis", leaseMillis, Lease.MIN_MILLIS, Lease.MAX_MILLIS);
    }

    @Override
    public int estimatedBytes() {
      int urls = description.addresses().clients().stream().mapToInt(String::length).sum();
      return 1_024 + 2 * urls;
    }

    @Override
    public int neededProtocol() {
      return description.storage() == 0 ? 1 : BusDescription.STORAGE_PROTOCOL;
    }
  }

  /**
   * Changes the state of a bus. The answer is {@link CommandResult.BusStateChanged}.
   *
   * @param bus the bus
   * @param epoch the life that is meant
   * @param next the new state; {@link BusState#canBecome} says from which it is legal. JOINING is
   *     not among them: a bus gets there by {@link Register}
   */
  record ChangeState(BusId bus, long epoch, BusState next) implements BusCommand {
    /**
     * Checks the values.
     *
     * @param bus as above
     * @param epoch as above
     * @param next as above
     * @throws IllegalArgumentException if the epoch is not positive or the state is JOINING
     */
    public ChangeState {
      Objects.requireNonNull(bus, "bus");
      RegistryChecks.range("epoch", epoch, 1, Long.MAX_VALUE);
      if (next == BusState.JOINING) {
        throw new IllegalArgumentException("next: JOINING (expected: UP, DRAINING or DOWN)");
      }
    }

    @Override
    public int estimatedBytes() {
      return 256;
    }
  }

  /**
   * Renews the lease of a bus that is alive. The answer is {@link CommandResult.LeaseRenewed}; a
   * bus that is refused with {@link RegistryRefusalReason#BUS_IS_DOWN} or {@link
   * RegistryRefusalReason#STALE_EPOCH} is out and has to register again.
   *
   * @param bus the bus
   * @param epoch the life that is meant
   * @param leaseMillis the lease from the command's time on; a lease is never shortened
   */
  record RenewLease(BusId bus, long epoch, long leaseMillis) implements BusCommand {
    /**
     * Checks the values.
     *
     * @param bus as above
     * @param epoch as above
     * @param leaseMillis as above
     * @throws IllegalArgumentException if the epoch or the lease is out of its range
     */
    public RenewLease {
      Objects.requireNonNull(bus, "bus");
      RegistryChecks.range("epoch", epoch, 1, Long.MAX_VALUE);
      RegistryChecks.range("leaseMillis", leaseMillis, Lease.MIN_MILLIS, Lease.MAX_MILLIS);
    }

    @Override
    public int estimatedBytes() {
      return 256;
    }
  }

  /**
   * Takes every bus DOWN whose lease has run out at the command's time. The answer is {@link
   * CommandResult.LeasesExpired}. Leases do not expire by themselves: the leader that gives
   * commands their time also submits this one.
   */
  record ExpireLeases() implements BusCommand {
    @Override
    public int estimatedBytes() {
      return 128;
    }
  }

  /**
   * Removes a bus that is DOWN. The answer is {@link CommandResult.BusRemoved}. Should the bus come
   * back, its number and epoch are new all the same.
   *
   * @param bus the bus
   * @param epoch the life that is meant
   */
  record Remove(BusId bus, long epoch) implements BusCommand {
    /**
     * Checks the values.
     *
     * @param bus as above
     * @param epoch as above
     * @throws IllegalArgumentException if the epoch is not positive
     */
    public Remove {
      Objects.requireNonNull(bus, "bus");
      RegistryChecks.range("epoch", epoch, 1, Long.MAX_VALUE);
    }

    @Override
    public int estimatedBytes() {
      return 256;
    }
  }
}
