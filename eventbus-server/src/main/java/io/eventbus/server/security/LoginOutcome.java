package io.eventbus.server.security;

/** Outcome of a {@link LoginMethod} for credentials that are for it. */
public sealed interface LoginOutcome {
  /** The credentials are right. */
  record Proved(Identity identity) implements LoginOutcome {}

  /** The credentials are wrong: no other method is asked. */
  record Wrong(FailedLogin why) implements LoginOutcome {
    /**
     * Creates the outcome for a client whose name is not known.
     *
     * @param reason for the log, as it goes on after "a client"; without secrets
     */
    public Wrong(String reason) {
      this(new FailedLogin(reason));
    }
  }

  /** The credentials cannot be checked now. */
  record Unavailable(String reason) implements LoginOutcome {}
}
