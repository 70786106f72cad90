package io.eventbus.server.session;

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
 * Finds out who one client is, perhaps long after it has shown its credentials. Confined to the
 * loop of its connection.
 */
final class SessionAuthentication {
  private final Authentications authentications;
  private final ClientLink link;
  private final Clock clock;
  private Instant begunAt = Instant.EPOCH;
  private @Nullable PendingAuthentication pending;
  private boolean failureNoted;
  private String client = "";

  SessionAuthentication(Authentications authentications, ClientLink link, Clock clock) {
    this.clock = clock;
    this.authentications = authentications;
    this.link = link;
  }

  /**
   * Asks who the client is; once before {@link #close}.
   *
   * @param user what it shows, null for none
   * @param token what it shows, null for none
   * @param nowNanos {@link System#nanoTime} at the receipt
   */
  void begin(@Nullable String user, @Nullable String token, String client, long nowNanos) {
    failureNoted = false;
    this.client = client;
    begunAt = clock.instant();
    pending =
        authentications.begin(
            new Credentials(user, token, link.certificate(), client, link.isLocal(), origin()),
            nowNanos);
  }

  private @Nullable Origin origin() {
    Object address = link.addressShare();
    return address == null ? null : new Origin(address, link.failsOften());
  }

  /** When the client showed what it was asked for last; also after {@link #close}. */
  Instant begunAt() {
    return begunAt;
  }

  /** Says whether a question was begun and not closed. */
  boolean isPending() {
    return pending != null;
  }

  /**
   * Returns what is known of the client.
   *
   * @param retry called once, by any thread, if the session has to wait
   * @return null if it has to wait: because there is no answer, or because the client is to hear a
   *     refusal only later
   */
  @Nullable Authentication answer(Runnable retry) {
    PendingAuthentication question = pending;
    if (question == null) {
      throw new IllegalStateException("answer without begin");
    }
    Authentication answer = question.answer();
    if (answer == null) {
      question.whenAnswered(retry);
      return null;
    }
    return answer instanceof Authentication.Refused refused && refusalMustWait(refused.why(), retry)
        ? null
        : answer;
  }

  /**
   * Notes, the first time, that what the client shows is refused.
   *
   * @param retry called once, by any thread, if the client is to hear it only later
   */
  boolean refusalMustWait(FailedLogin why, Runnable retry) {
    if (failureNoted) {
      return false;
    }
    failureNoted = true;
    Advisory.ClientRefused refusal =
        new Advisory.ClientRefused(
            link.remoteAddress(), client, why.account(), why.subject(), why.reason());
    return link.refusalMustWait(refusal, why.text(), retry);
  }

  /** Looks at the deadline of the answer. */
  void onTick(long nowNanos) {
    if (pending != null) {
      pending.onTick(nowNanos);
    }
  }

  /** Ends the waiting, and forgets the answer. */
  void close() {
    if (pending != null) {
      pending.abandon();
      pending = null;
    }
  }
}
