package io.eventbus.server.security;

/** What a {@link LoginMethod} says of credentials that are for it. */
public sealed interface LoginOutcome {
  /**
   * They are right.
   *
   * @param identity whose they are
   */
  record Proved(Identity identity) implements LoginOutcome {}

  /**
   * They are wrong: no other method is asked.
   *
   * @param reason for the log, as it goes on after "a client"; without secrets
   */
  record Wrong(String reason) implements LoginOutcome {}

  /**
   * They cannot be checked now.
   *
   * @param reason for the log; without secrets
   */
  record Unavailable(String reason) implements LoginOutcome {}
}
