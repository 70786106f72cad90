package io.eventbus.server.security.jwt;

import io.eventbus.server.security.Identity;

/** What a {@link JwtVerifier} says of a token. */
sealed interface TokenVerdict {
  /**
   * It is good.
   *
   * @param identity whose it is, with its expiry
   */
  record Good(Identity identity) implements TokenVerdict {}

  /**
   * It is not.
   *
   * @param reason for the log, as it goes on after "a client"; holds nothing of the token
   */
  record Bad(String reason) implements TokenVerdict {}

  /** The key that it names is not among those that there are. */
  record UnknownKey() implements TokenVerdict {}
}
