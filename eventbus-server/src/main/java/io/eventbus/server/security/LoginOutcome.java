package io.eventbus.server.security;

/** What a {@link LoginMethod} says of credentials that are for it. */
public sealed interface LoginOutcome {
  /** They are right. */
  record Proved(Identity identity) implements LoginOutcome {}

  /** They are wrong: no other method is asked. */
  record Wrong(FailedLogin why) implements LoginOutcome {
    /**
     * Makes one of a client whose name is not known.
     *
     * @param reason for the log, as it goes on after "a client"; without secrets
     */
    public Wrong(String reason) {
      this(new FailedLogin(reason));
    }
  }

  /** They cannot be checked now. */
  record Unavailable(String reason) implements LoginOutcome {}
}
