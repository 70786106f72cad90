package io.eventbus.server.session;

import io.eventbus.base.PrintableText;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import io.eventbus.server.subscription.RoutedSubscription;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Renews the tokens of an admitted client, one at a time, while everything else goes on. An invalid
 * token changes nothing. Confined to the loop of the client's connection.
 */
final class TokenRenewal {
  /** Maximum characters of a name in a log line. */
  private static final int MAX_NAME_CHARS = 256;

  private final Session session;
  private final Outbound out;
  private final ConnectionControl connection;
  private final SessionAuthentication authentication;
  private final SessionAdmission admission;
  // Subscriptions left to review; null for none.
  private @Nullable Iterator<RoutedSubscription> unreviewed;

  TokenRenewal(
      Session session,
      Outbound out,
      ConnectionControl connection,
      SessionAuthentication authentication,
      SessionAdmission admission) {
    this.session = session;
    this.out = out;
    this.connection = connection;
    this.authentication = authentication;
    this.admission = admission;
  }

  /**
   * Starts the check of a token, unless another is being checked.
   *
   * @param nowNanos {@link System#nanoTime} at the receipt
   */
  void begin(Authenticate request, long nowNanos) {
    if (authentication.isPending() || unreviewed != null) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "another Authenticate is being checked (expected: one at a time)",
          true);
      return;
    }
    authentication.begin(
        request.getUser(), request.getToken(), session.identity().client(), nowNanos);
    goOn();
  }

  private void goOnLater() {
    connection.execute(this::goOn);
  }

  private void goOn() {
    if (!session.isOpen() || !authentication.isPending()) {
      return;
    }
    Authentication answer = authentication.answer(this::goOnLater);
    if (answer == null) {
      return;
    }
    boolean isAnother =
        answer instanceof Authentication.Accepted shown && isAnother(shown.principal());
    if (isAnother
        && authentication.refusalMustWait(
            ofAnother(((Authentication.Accepted) answer).principal()), this::goOnLater)) {
      return;
    }
    authentication.close();
    if (isAnother) {
      refuse(
          ErrorCode.UNAUTHENTICATED,
          "Authenticate has credentials of another client, or of another kind (expected: those of"
              + " the account and the name that this connection has, as in Hello)",
          false);
    } else if (answer instanceof Authentication.Accepted accepted) {
      take(accepted.principal());
    } else if (answer instanceof Authentication.Unavailable) {
      refuse(
          ErrorCode.OVERLOADED,
          "the bus cannot check the token now; the earlier credential stays valid; try again",
          true);
    } else {
      refuse(
          ErrorCode.UNAUTHENTICATED,
          "the credentials in Authenticate are not ones that this bus accepts; what was proved"
              + " before goes on until it expires",
          false);
    }
  }

  private boolean isAnother(Principal shown) {
    Principal before = session.principal();
    return !shown.account().equals(before.account())
        || !shown.subject().equals(before.subject())
        || shown.method() != before.method();
  }

  private FailedLogin ofAnother(Principal shown) {
    Principal before = session.principal();
    String own =
        before.subject().isEmpty()
            ? "a client without a name"
            : "'" + PrintableText.of(before.subject(), MAX_NAME_CHARS) + "'";
    return new FailedLogin(
        "showed credentials of another client in Authenticate on a connection of " + own,
        shown.account(),
        shown.subject());
  }

  private void take(Principal renewed) {
    Principal before = session.principal();
    Permissions granted = renewed.permissions();
    admission.applyPrincipal(renewed);
    admission.renewQuotas(renewed);
    if (granted == before.permissions()) {
      confirm();
      return;
    }
    unreviewed = session.subscriptions().list().iterator();
    review();
  }

  /** Returns whether a review was too much for one tick. */
  boolean isReviewing() {
    return unreviewed != null;
  }

  /** Continues a review that was too much for one tick. */
  void onTick() {
    review();
  }

  /** Reviews subscriptions in parts: thousands of them may meet thousands of rules. */
  private void review() {
    Iterator<RoutedSubscription> rest = unreviewed;
    if (rest == null || !session.isOpen()) {
      return;
    }
    SessionConsumers consumers = session.consumersIfAny();
    if (session.subscriptions().endForbidden(rest)
        && (consumers == null || consumers.endForbidden())) {
      unreviewed = null;
      confirm();
    }
  }

  /** Confirms the token after everything that was sent because of it. */
  private void confirm() {
    out.send(
        ControlFrames.encode(
            TypeCode.CONFIRM,
            new Confirm(
                TypeCode.AUTHENTICATE.code(),
                admission.expiresAtMicros(),
                "",
                -1L,
                0L,
                false,
                0L)));
  }

  private void refuse(ErrorCode code, String message, boolean retryable) {
    session.sendProblem(
        new Problem(code, message, retryable, 0L, TypeCode.AUTHENTICATE.code(), ""));
  }
}
