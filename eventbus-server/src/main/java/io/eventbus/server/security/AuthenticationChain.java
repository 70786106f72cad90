package io.eventbus.server.security;

import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.ClientScope;
import io.eventbus.server.config.Quotas;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Asks the ways to prove who one is in turn. The first that takes the credentials decides: wrong
 * ones never lead to another way. Who shows nothing is anonymous, and let in where that is allowed.
 * Immutable; any thread.
 */
public final class AuthenticationChain implements Authenticator {
  /** The role of clients that have proved nothing. */
  public static final String ANONYMOUS_ROLE = "anonymous";

  private static final String NOT_ACCEPTED =
      "the credentials in Hello are not ones that this bus accepts";
  private static final Authentication MISSING =
      new Authentication.Refused(
          "this bus wants to know who its clients are, and there were no credentials (expected: a"
              + " token in Hello.token, with a user in Hello.user, or a client certificate, as the"
              + " bus is configured)",
          "showed no credentials");
  private static final Authentication LOCAL_ONLY =
      new Authentication.Refused(
          "this bus serves clients of its own machine only, because it is not configured to"
              + " authenticate others (expected: auth.token, auth.users-file, auth.jwt.* or"
              + " tls.client-ca, or auth.anonymous=everyone to let everybody in)",
          "is on another machine, and showed no credentials");

  private final List<LoginMethod> methods;
  private final ClientScope anonymous;
  private final PermissionPolicy policy;
  private final QuotaPolicy quotas;

  /**
   * Makes a chain where only tokens limit how much of the bus clients may use.
   *
   * @param policy what those may do that are let in
   */
  public AuthenticationChain(
      List<LoginMethod> methods, ClientScope anonymous, PermissionPolicy policy) {
    this(methods, anonymous, policy, QuotaPolicy.NONE);
  }

  /**
   * Makes a chain.
   *
   * @param policy what those may do that are let in
   * @param quotas how much of the bus they may use, where their tokens do not say it
   */
  public AuthenticationChain(
      List<LoginMethod> methods,
      ClientScope anonymous,
      PermissionPolicy policy,
      QuotaPolicy quotas) {
    this.methods = List.copyOf(methods);
    this.anonymous = anonymous;
    this.policy = policy;
    this.quotas = quotas;
  }

  @Override
  public CompletableFuture<Authentication> authenticate(Credentials credentials) {
    for (LoginMethod method : methods) {
      if (method.takes(credentials)) {
        return decideLater(method.check(credentials), credentials);
      }
    }
    return CompletableFuture.completedFuture(withoutMethod(credentials));
  }

  // What comes of the answer is the caller's.
  @SuppressWarnings("FutureReturnValueIgnored")
  private CompletableFuture<Authentication> decideLater(
      CompletableFuture<LoginOutcome> checked, Credentials credentials) {
    CompletableFuture<Authentication> answer =
        checked.thenApply(outcome -> decide(outcome, credentials));
    if (!checked.isDone()) {
      // Where the caller has ended the waiting.
      answer.whenComplete((decided, failure) -> checked.cancel(false));
    }
    return answer;
  }

  private Authentication decide(LoginOutcome outcome, Credentials credentials) {
    if (outcome instanceof LoginOutcome.Proved proved) {
      return accept(proved.identity(), credentials);
    }
    if (outcome instanceof LoginOutcome.Unavailable unavailable) {
      return new Authentication.Unavailable(Authentications.RECONNECT, unavailable.reason());
    }
    return refuse(((LoginOutcome.Wrong) outcome).why());
  }

  private Authentication withoutMethod(Credentials credentials) {
    // A bus that authenticates nobody does not look at tokens either.
    if (!methods.isEmpty() && credentials.user() != null) {
      return refuse(new FailedLogin("showed a user's name, and no method takes one"));
    }
    if (!methods.isEmpty() && credentials.token() != null) {
      return refuse(new FailedLogin("showed a wrong token"));
    }
    boolean let =
        anonymous == ClientScope.EVERYONE
            || (anonymous == ClientScope.LOOPBACK && credentials.local());
    if (let) {
      return accept(
          Identity.nameless(AuthenticationMethod.NONE, Set.of(ANONYMOUS_ROLE)), credentials);
    }
    return methods.isEmpty() && anonymous == ClientScope.LOOPBACK ? LOCAL_ONLY : MISSING;
  }

  /** The only place where it is decided what a client may do, and how much of it. */
  private Authentication accept(Identity identity, Credentials credentials) {
    ClientQuotas ofToken = new ClientQuotas(identity.quotas(), Quotas.NONE);
    return new Authentication.Accepted(
        new Principal(
            identity.account(),
            identity.subject(),
            identity.method(),
            policy.permissions(identity, credentials),
            ofToken.over(quotas.quotas(identity)),
            identity.issuedAt(),
            identity.expiresAt()));
  }

  /** The same for whatever was wrong, because a guesser must not learn it. */
  private static Authentication refuse(FailedLogin why) {
    return new Authentication.Refused(NOT_ACCEPTED, why);
  }
}
