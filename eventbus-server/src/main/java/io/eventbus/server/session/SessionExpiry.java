package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Principal;
import io.eventbus.server.security.RevocationList;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Expiry and revocation of the credential of one client, which end its session. Confined to the
 * loop.
 */
final class SessionExpiry {
  /**
   * Grace period after a credential expires before its client is closed: ten seconds more than the
   * accepted clock skew between a bus and an issuer, so that a credential that admitted a client
   * never ends its connection at once.
   */
  static final Duration GRACE = Authentications.MAX_SKEW.plusSeconds(10);

  private final LoopContext loop;
  private final Session session;
  // Deadline on the bus's clock; Long.MAX_VALUE for never.
  private long expiresAtMillis = Long.MAX_VALUE;
  // Time when the credential was issued, or, if unknown, when it was shown.
  private Instant issuedAt = Instant.EPOCH;
  // List of the last revocation check; null before the first.
  private @Nullable RevocationList checkedRevocations;
  // Result of that check.
  private boolean revoked;

  SessionExpiry(LoopContext loop, Session session) {
    this.loop = loop;
    this.session = session;
  }

  /**
   * Applies to another credential from now on.
   *
   * @param shownAt time of its check's start, not its end: what was revoked meanwhile is revoked
   */
  void renew(Principal proven, Instant shownAt) {
    Instant expires = proven.expiresAt();
    expiresAtMillis = expires == null ? Long.MAX_VALUE : expires.plus(GRACE).toEpochMilli();
    Instant issued = proven.issuedAt();
    issuedAt = issued == null ? shownAt : issued;
    checkedRevocations = null;
  }

  /** Returns whether the session is to be closed as soon as there is time for it. */
  boolean isDue() {
    return revoked || loop.bus.clock().millis() > expiresAtMillis;
  }

  /** Closes an open session whose credential has expired or was revoked. */
  void check() {
    if (expiresAtMillis != Long.MAX_VALUE
        && session.isOpen()
        && loop.bus.clock().millis() > expiresAtMillis
        && loop.budget().hasUpkeepLeft()) {
      end(
          ClientAdvisories.expired(session),
          "the credential of this client has expired; reconnect with a new token",
          true,
          CloseReason.EXPIRED);
    }
    if (!session.isOpen()) {
      return;
    }
    // Each session checks for itself, so that a session that arrives while the list changes is
    // not missed.
    RevocationList list = loop.bus.revocations().current();
    if (list != checkedRevocations) {
      checkedRevocations = list;
      revoked = isRevoked(list);
    }
    // A check is a comparison or a look-up in a map; only closing costs time.
    if (revoked && loop.budget().hasUpkeepLeft()) {
      end(
          ClientAdvisories.revoked(session),
          "the credential of this client was revoked",
          false,
          CloseReason.UNAUTHENTICATED);
    }
  }

  private boolean isRevoked(RevocationList list) {
    Principal proven = session.principal();
    return !proven.subject().isEmpty() && list.covers(proven.account(), proven.subject(), issuedAt);
  }

  private void end(Advisory advisory, String message, boolean retryable, CloseReason reason) {
    long began = loop.budget().now();
    loop.bus.advisories().tell(advisory);
    session.sendProblem(
        new Problem(ErrorCode.UNAUTHENTICATED, message, retryable, 0L, TypeCode.HELLO.code(), ""));
    session.closeHere(reason, message);
    loop.budget().spendOnUpkeep(began);
  }
}
