package io.eventbus.server.security.jwt;

import io.eventbus.server.security.Identity;

/** What a {@link JwtVerifier} says of a token. */
sealed interface TokenVerdict {
  /** It is good. */
  record Good(Identity identity) implements TokenVerdict {}

  /**
   * It is not.
   *
   * @param reason for the log, as it goes on after "a client"; holds nothing of the token
   * @param subject whose it is, where the signature is right; empty where that is not known
   */
  record Bad(String reason, String subject) implements TokenVerdict {}

  /** The key that it names is not among those that there are. */
  record UnknownKey(String id) implements TokenVerdict {}
}
