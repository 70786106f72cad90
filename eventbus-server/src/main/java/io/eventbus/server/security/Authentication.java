package io.eventbus.server.security;

/** Result of checking the credentials of one client. */
public sealed interface Authentication {
  /** The client is admitted. */
  record Accepted(Principal principal) implements Authentication {}

  /**
   * The credentials are wrong: the same ones will be refused again.
   *
   * @param message for the client, in English: the same for whatever a guesser must not learn
   */
  record Refused(String message, FailedLogin why) implements Authentication {
    /**
     * Creates the result for a client whose name is not known.
     *
     * @param reason for the log, as it goes on after "a client"; without secrets
     */
    public Refused(String message, String reason) {
      this(message, new FailedLogin(reason));
    }
  }

  /** The credentials could not be checked: the client is not admitted, and may try again. */
  record Unavailable(String message, String reason) implements Authentication {}
}
