package io.eventbus.registry;

/** Reason of the registry for refusing a command, with the advice what to do. */
public enum RegistryRefusalReason {
  /** No bus has this id. */
  UNKNOWN_BUS(RetryAdvice.NEVER),
  /** A bus with this id is alive; its lease may run out. */
  BUS_ID_IN_USE(RetryAdvice.NEW_ID),
  /** The command is about another life of the bus than the one that the registry knows. */
  STALE_EPOCH(RetryAdvice.NEVER),
  /** The bus cannot change from its state to the requested one. */
  ILLEGAL_TRANSITION(RetryAdvice.NEVER),
  /** The bus was taken DOWN; it has to register again. */
  BUS_IS_DOWN(RetryAdvice.NEVER),
  /** Only a bus that is DOWN is removed. */
  BUS_NOT_DOWN(RetryAdvice.NEW_ID),
  /** The registry has the maximum number of buses; remove one that is DOWN. */
  TOO_MANY_BUSES(RetryAdvice.NEVER),
  /** Every number for a bus was given out. */
  NO_NUMBER_LEFT(RetryAdvice.NEVER),
  /** The topic has a configuration already. */
  TOPIC_EXISTS(RetryAdvice.NEVER),
  /** The topic has no configuration. */
  UNKNOWN_TOPIC(RetryAdvice.NEVER),
  /** Another command has changed the topic's configuration meanwhile. */
  STALE_REVISION(RetryAdvice.NEW_ID),
  /** The registry has the maximum number of topic configurations. */
  TOO_MANY_TOPICS(RetryAdvice.NEVER),
  /** The registry has the maximum number of revocations; they expire with time. */
  TOO_MANY_REVOCATIONS(RetryAdvice.NEVER),
  /** Nothing of this client is revoked. */
  UNKNOWN_REVOCATION(RetryAdvice.NEVER),
  /** Another command has changed the shard's replicas meanwhile. */
  STALE_SHARD(RetryAdvice.NEW_ID),
  /** A bus does not announce the generation of a data directory that the replica is in. */
  STORAGE_DIFFERS(RetryAdvice.NEW_ID),
  /** A present bus has an older version, which does not know the command. */
  BUSES_TOO_OLD(RetryAdvice.NEW_ID),
  /**
   * The registry no longer remembers everything since the id was created. It did not apply the
   * command now; whether it had applied it before has to be read from its state.
   */
  ID_FORGOTTEN(RetryAdvice.NEW_ID),
  /**
   * The id's basis is a version that the registry has not reached: it was created for another one.
   */
  ID_FROM_THE_FUTURE(RetryAdvice.NEW_ID);

  private final RetryAdvice advice;

  RegistryRefusalReason(RetryAdvice advice) {
    this.advice = advice;
  }

  /**
   * Returns the advice what to do.
   *
   * @return {@link RetryAdvice#NEVER} or {@link RetryAdvice#NEW_ID}
   */
  public RetryAdvice advice() {
    return advice;
  }
}
