package io.eventbus.server.security;

import java.time.Instant;

/**
 * Revocations at one moment. Implementations are immutable and fast, because event loops ask; any
 * thread.
 */
@FunctionalInterface
public interface RevocationList {
  /** List without revocations. */
  RevocationList NONE = (account, subject, issuedAt) -> false;

  /**
   * Returns whether the credentials of a client are revoked.
   *
   * @param subject its name in the account, not empty
   */
  boolean covers(String account, String subject, Instant issuedAt);
}
