package io.eventbus.registry;

import java.util.Objects;

/**
 * Revocation of the credentials of a client that were issued before some time.
 *
 * @param who the client
 * @param issuedBeforeMillis credentials that were issued earlier are revoked: wall-clock time in
 *     milliseconds since the epoch, as issuers write it
 * @param expiresAtMillis until when the revocation is kept, in registry time: by then all that it
 *     is about has expired
 */
public record Revocation(AccountSubject who, long issuedBeforeMillis, long expiresAtMillis) {
  /**
   * Checks the values.
   *
   * @param who as above
   * @param issuedBeforeMillis as above
   * @param expiresAtMillis as above
   * @throws IllegalArgumentException if a time is negative
   */
  public Revocation {
    Objects.requireNonNull(who, "who");
    RegistryChecks.range("issuedBeforeMillis", issuedBeforeMillis, 0, Long.MAX_VALUE);
    RegistryChecks.range("expiresAtMillis", expiresAtMillis, 0, Long.MAX_VALUE);
  }

  /**
   * Returns whether the revocation is kept no longer.
   *
   * @param timeMillis registry time
   * @return true from {@link #expiresAtMillis()} on
   */
  public boolean isExpiredAt(long timeMillis) {
    return timeMillis >= expiresAtMillis;
  }
}
