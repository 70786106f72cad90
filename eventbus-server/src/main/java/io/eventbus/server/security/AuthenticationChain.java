package io.eventbus.server.security;

import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.ClientScope;
import io.eventbus.server.config.Quotas;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Chain of login methods, asked in turn. The first that takes the credentials decides: wrong ones
 * never lead to another method. A client without credentials is anonymous, and admitted where that
 * is allowed. Immutable; any thread.
 */
public final class AuthenticationChain implements Authenticator {
  /** Role of clients without credentials. */
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
   * Creates a chain where only tokens limit how much of the bus clients may use.
   *
   * @param policy permissions of admitted clients
   */
  public AuthenticationChain(
      List<LoginMethod> methods, ClientScope anonymous, PermissionPolicy policy) {
    this(methods, anonymous, policy, QuotaPolicy.NONE);
  }

  /**
   * Creates a chain.
   *
   * @param policy permissions of admitted clients
   * @param quotas their quotas, where their tokens name none
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

  // Errors of the answer are the caller's.
  @SuppressWarnings("FutureReturnValueIgnored")
  private CompletableFuture<Authentication> decideLater(
      CompletableFuture<LoginOutcome> checked, Credentials credentials) {
    CompletableFuture<Authentication> answer =
        checked.thenApply(outcome -> decide(outcome, credentials));
    if (!checked.isDone()) {
      // If the caller no longer waits.
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

  /**
   * Returns the result for an identity: the only place where permissions and quotas are decided.
   */
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

  /** Returns the same refusal whatever was wrong, because a guesser must not learn it. */
  private static Authentication refuse(FailedLogin why) {
    return new Authentication.Refused(NOT_ACCEPTED, why);
  }
}
