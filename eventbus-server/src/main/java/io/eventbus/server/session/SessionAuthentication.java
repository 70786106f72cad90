package io.eventbus.server.session;

import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.Origin;
import io.eventbus.server.security.PendingAuthentication;
import java.time.Clock;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates one client, perhaps long after it has shown its credentials. Confined to the loop
 * of its connection.
 */
final class SessionAuthentication {
  private final Authentications authentications;
  private final ConnectionControl connection;
  private final AddressLimits address;
  private final Clock clock;
  private Instant begunAt = Instant.EPOCH;
  private @Nullable PendingAuthentication pending;
  private boolean failureNoted;
  private String client = "";

  SessionAuthentication(
      Authentications authentications,
      ConnectionControl connection,
      AddressLimits address,
      Clock clock) {
    this.clock = clock;
    this.authentications = authentications;
    this.connection = connection;
    this.address = address;
  }

  /**
   * Starts the check of the credentials; once before {@link #close}.
   *
   * @param user user name, null for none
   * @param token token, null for none
   * @param nowNanos {@link System#nanoTime} at the receipt
   */
  void begin(@Nullable String user, @Nullable String token, String client, long nowNanos) {
    failureNoted = false;
    this.client = client;
    begunAt = clock.instant();
    pending =
        authentications.begin(
            new Credentials(
                user, token, connection.certificate(), client, connection.isLocal(), origin()),
            nowNanos);
  }

  private @Nullable Origin origin() {
    return address.isExempt() ? null : new Origin(address.shareOf(), address.failsOften());
  }

  /** Returns when the client showed its last credentials; also after {@link #close}. */
  Instant begunAt() {
    return begunAt;
  }

  /** Returns whether a check is pending. */
  boolean isPending() {
    return pending != null;
  }

  /**
   * Returns the result of the check, or null if the session has to wait: for the result, or because
   * the refusal is delayed.
   *
   * @param retry called once, by any thread, if the session has to wait
   */
  @Nullable Authentication answer(Runnable retry) {
    PendingAuthentication check = pending;
    if (check == null) {
      throw new IllegalStateException("answer without begin");
    }
    Authentication answer = check.answer();
    if (answer == null) {
      check.whenAnswered(retry);
      return null;
    }
    return answer instanceof Authentication.Refused refused && refusalMustWait(refused.why(), retry)
        ? null
        : answer;
  }

  /**
   * Records the refusal the first time; returns whether it has to be delayed.
   *
   * @param retry called once, by any thread, if the refusal is delayed
   */
  boolean refusalMustWait(FailedLogin why, Runnable retry) {
    if (failureNoted) {
      return false;
    }
    failureNoted = true;
    Advisory.ClientRefused refusal =
        new Advisory.ClientRefused(
            connection.remoteAddress(), client, why.account(), why.subject(), why.reason());
    return connection.refusalMustWait(refusal, why.text(), retry);
  }

  /** Checks the deadline of the result. */
  void onTick(long nowNanos) {
    if (pending != null) {
      pending.onTick(nowNanos);
    }
  }

  /** Cancels the check and forgets its result. */
  void close() {
    if (pending != null) {
      pending.abandon();
      pending = null;
    }
  }
}
