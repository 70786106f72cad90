package io.eventbus.registry;

import java.util.List;
import java.util.Objects;

/** The registry's answer to a command: the same one however often the command is repeated. */
public sealed interface CommandResult {
  /**
   * Returns the version of the registry that the command led to. A snapshot with at least this
   * version shows its effect.
   *
   * @return the version
   */
  long version();

  /**
   * Returns this result if it is of the expected kind.
   *
   * @param <T> the kind
   * @param kind the kind of a successful answer to the command
   * @return this
   * @throws CommandRefusedException if the command was refused; it says whether to retry
   * @throws IllegalArgumentException if commands of another sort have results of that kind
   */
  default <T extends CommandResult> T expect(Class<T> kind) {
    if (kind.isInstance(this)) {
      return kind.cast(this);
    }
    if (this instanceof Refused refused) {
      throw new CommandRefusedException(refused);
    }
    throw new IllegalArgumentException(
        "kind: " + kind.getSimpleName() + " (expected: " + getClass().getSimpleName() + ")");
  }

  /**
   * Start of a life of a bus.
   *
   * @param version the version of the registry
   * @param number the number of this life, see {@link BusInfo#number()}
   * @param epoch the epoch for commands about this life, see {@link BusInfo#epoch()}
   * @param leaseExpiresAtMillis the end of its first lease, in registry time
   */
  record BusRegistered(long version, int number, long epoch, long leaseExpiresAtMillis)
      implements CommandResult {}

  /**
   * New state of a bus.
   *
   * @param version the version of the registry
   * @param from the state before
   * @param to the state now
   */
  record BusStateChanged(long version, BusState from, BusState to) implements CommandResult {}

  /**
   * Renewal of a lease.
   *
   * @param version the version of the registry
   * @param expiresAtMillis the end of the lease, in registry time
   */
  record LeaseRenewed(long version, long expiresAtMillis) implements CommandResult {}

  /**
   * End of the leases that had run out.
   *
   * @param version the version of the registry
   * @param buses the buses that were taken DOWN, in the order of their ids
   */
  record LeasesExpired(long version, List<BusId> buses) implements CommandResult {
    /**
     * Copies the list.
     *
     * @param version as above
     * @param buses as above
     */
    public LeasesExpired {
      buses = List.copyOf(buses);
    }
  }

  /**
   * Removal of a bus.
   *
   * @param version the version of the registry
   */
  record BusRemoved(long version) implements CommandResult {}

  /**
   * Creation of a topic's configuration.
   *
   * @param version the version of the registry, which is the configuration's revision
   */
  record TopicCreated(long version) implements CommandResult {}

  /**
   * Change of a topic's settings.
   *
   * @param version the version of the registry, which is the configuration's new revision
   */
  record TopicChanged(long version) implements CommandResult {}

  /**
   * Deletion of a topic's configuration.
   *
   * @param version the version of the registry
   */
  record TopicDeleted(long version) implements CommandResult {}

  /**
   * Revocation of a client's credentials.
   *
   * @param version the version of the registry
   * @param issuedBeforeMillis credentials that were issued earlier are revoked: wall-clock time
   * @param expiresAtMillis until when that is kept, in registry time
   */
  record SubjectRevoked(long version, long issuedBeforeMillis, long expiresAtMillis)
      implements CommandResult {}

  /**
   * End of a revocation by an operator.
   *
   * @param version the version of the registry
   */
  record RevocationLifted(long version) implements CommandResult {}

  /**
   * End of the revocations whose time had come.
   *
   * @param version the version of the registry
   * @param count their number
   */
  record RevocationsExpired(long version, int count) implements CommandResult {}

  /**
   * Placement of a shard.
   *
   * @param version the version of the registry, which is the shard's new version
   */
  record ShardPlaced(long version) implements CommandResult {}

  /**
   * Refusal: the command was not carried out and changed nothing.
   *
   * @param version the version of the registry
   * @param reason the reason, and whether to retry
   * @param message the value that was found and the expectation, for people
   */
  record Refused(long version, RegistryRefusalReason reason, String message)
      implements CommandResult {
    /**
     * Takes the reason.
     *
     * @param version as above
     * @param reason as above
     * @param message as above
     */
    public Refused {
      Objects.requireNonNull(reason, "reason");
      Objects.requireNonNull(message, "message");
    }
  }
}
