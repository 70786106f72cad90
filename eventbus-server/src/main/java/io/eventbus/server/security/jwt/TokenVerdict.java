package io.eventbus.server.security.jwt;

import io.eventbus.server.security.Identity;

/** Verdict of a {@link JwtVerifier} on a token. */
sealed interface TokenVerdict {
  /** The token is good. */
  record Good(Identity identity) implements TokenVerdict {}

  /**
   * The token is bad.
   *
   * @param reason for the log, as it goes on after "a client"; holds nothing of the token
   * @param subject of the token, if the signature is right; empty if it is not known
   */
  record Bad(String reason, String subject) implements TokenVerdict {}

  /** The token names an unknown key. */
  record UnknownKey(String id) implements TokenVerdict {}
}
