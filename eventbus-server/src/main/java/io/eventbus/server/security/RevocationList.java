package io.eventbus.server.security;

import java.time.Instant;

/**
 * What was revoked at one moment. Implementers: immutable and fast, because event loops ask; any
 * thread.
 */
@FunctionalInterface
public interface RevocationList {
  /** Nothing is revoked. */
  RevocationList NONE = (account, subject, issuedAt) -> false;

  /**
   * Says whether what a client has proved who it is with is revoked.
   *
   * @param subject its name in the account, not empty
   * @return true if it holds no more
   */
  boolean covers(String account, String subject, Instant issuedAt);
}
