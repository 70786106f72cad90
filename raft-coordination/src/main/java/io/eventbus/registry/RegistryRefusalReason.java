package io.eventbus.registry;

/** Why the registry refused a command, and what to do about it. */
public enum RegistryRefusalReason {
  /** No bus has this id. */
  UNKNOWN_BUS(RetryAdvice.NEVER),
  /** A bus with this id is alive; its lease may run out. */
  BUS_ID_IN_USE(RetryAdvice.NEW_ID),
  /** The command is about another life of the bus than the one that the registry knows. */
  STALE_EPOCH(RetryAdvice.NEVER),
  /** The bus cannot go from its state to the one that was asked for. */
  ILLEGAL_TRANSITION(RetryAdvice.NEVER),
  /** The bus was taken DOWN; it has to register again. */
  BUS_IS_DOWN(RetryAdvice.NEVER),
  /** Only a bus that is DOWN is removed. */
  BUS_NOT_DOWN(RetryAdvice.NEW_ID),
  /** The registry holds as many buses as it may; remove one that is DOWN. */
  TOO_MANY_BUSES(RetryAdvice.NEVER),
  /** Every number for a bus was given out. */
  NO_NUMBER_LEFT(RetryAdvice.NEVER),
  /** The topic has a configuration already. */
  TOPIC_EXISTS(RetryAdvice.NEVER),
  /** The topic has no configuration. */
  UNKNOWN_TOPIC(RetryAdvice.NEVER),
  /** Another command has changed the topic's configuration meanwhile. */
  STALE_REVISION(RetryAdvice.NEW_ID),
  /** The registry holds as many topic configurations as it may. */
  TOO_MANY_TOPICS(RetryAdvice.NEVER),
  /** The registry holds as many revocations as it may; they go with time. */
  TOO_MANY_REVOCATIONS(RetryAdvice.NEVER),
  /** Nothing of this client is revoked. */
  UNKNOWN_REVOCATION(RetryAdvice.NEVER),
  /** A bus that is there has an older version, which does not know the command. */
  BUSES_TOO_OLD(RetryAdvice.NEW_ID),
  /**
   * The registry no longer remembers everything since the id was made. It did not apply the command
   * now; whether it had applied it before has to be read from its state.
   */
  ID_FORGOTTEN(RetryAdvice.NEW_ID),
  /** The id's basis is a version that the registry has not reached: it was made for another one. */
  ID_FROM_THE_FUTURE(RetryAdvice.NEW_ID);

  private final RetryAdvice advice;

  RegistryRefusalReason(RetryAdvice advice) {
    this.advice = advice;
  }

  /**
   * Says what to do.
   *
   * @return {@link RetryAdvice#NEVER} or {@link RetryAdvice#NEW_ID}
   */
  public RetryAdvice advice() {
    return advice;
  }
}
