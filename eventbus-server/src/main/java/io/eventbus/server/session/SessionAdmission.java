package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Welcome;
import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.Principal;
import io.eventbus.server.security.Verdict;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Admission of one client: its authentication, identity, account and quotas, from {@code Hello} to
 * the end of the session. Confined to the loop except for {@link #principal} and {@link #identity}.
 */
final class SessionAdmission implements Denials {
  /** Rules that are checked in one unit of work. */
  private static final int RULES_PER_UNIT = 4;

  private final LoopContext loop;
  private final Session session;
  private final Outbound out;
  private final SessionAuthentication authentication;
  private final TokenRenewal renewal;
  private final SessionMove move;
  private final SessionExpiry expiry;
  private volatile Principal principal = Principal.UNKNOWN;
  private volatile ClientInfo identity = ClientInfo.UNKNOWN;

  // Index of the client's account, which is kept as long as the client is here; null before the
  // welcome.
  private @Nullable SubscriptionIndex index;

  // Null where there are no quotas for this client.
  private @Nullable ConnectionQuota quotas;

  SessionAdmission(
      LoopContext loop,
      Outbound out,
      ConnectionControl connection,
      AddressLimits address,
      Session session,
      SessionMove move,
      SessionExpiry expiry) {
    this.loop = loop;
    this.session = session;
    this.out = out;
    this.authentication =
        new SessionAuthentication(
            loop.bus.authentications(), connection, address, loop.bus.clock());
    this.renewal = new TokenRenewal(session, out, connection, authentication, this);
    this.move = move;
    this.expiry = expiry;
  }

  /**
   * Authenticates and admits a client. Returns false if it has to wait; then the same frame is
   * handled again.
   */
  boolean hello(ByteBuffer in, int from, int to, Runnable retry) {
    if (session.isOpen()) {
      session.violation("a second Hello (expected: one in a connection)", TypeCode.HELLO.code());
      return true;
    }
    Hello hello = ControlFrames.hello(in, from, to);
    if (!session.isAuthenticating()) {
      session.become(SessionState.AUTHENTICATING);
      authentication.begin(
          hello.getUser(), hello.getToken(), hello.getClient(), session.receivedNanos());
    }
    Authentication answer = authentication.answer(retry);
    if (answer == null) {
      return false;
    }
    if (answer instanceof Authentication.Accepted accepted) {
      admit(hello, accepted.principal());
    } else if (answer instanceof Authentication.Unavailable unavailable) {
      rejectRetryable(ErrorCode.OVERLOADED, unavailable.message());
    } else if (answer instanceof Authentication.Refused refused) {
      reject(refused.message());
    }
    return true;
  }

  /** Checks the deadline of a pending authentication. */
  void onTick(long nowNanos) {
    authentication.onTick(nowNanos);
  }

  /** Returns whether an authentication is pending. */
  boolean isPending() {
    return authentication.isPending();
  }

  /** Cancels a pending authentication. */
  void cancel() {
    authentication.close();
  }

  /** Returns the renewal of the client's tokens. */
  TokenRenewal renewal() {
    return renewal;
  }

  private void reject(String refusal) {
    session.refuse(ErrorCode.UNAUTHENTICATED, refusal, 0, TypeCode.HELLO.code(), "");
    session.closeHere(CloseReason.UNAUTHENTICATED, refusal);
  }

  /** Closes a client with a retryable error: the cause is not the client's, or temporary. */
  private void rejectRetryable(ErrorCode code, String message) {
    session.sendProblem(new Problem(code, message, true, 0L, TypeCode.HELLO.code(), ""));
    session.closeHere(CloseReason.OVERLOADED, message);
  }

  /** Welcomes an authenticated client if the rest of its {@code Hello} is valid. */
  private void admit(Hello hello, Principal proven) {
    String resume = hello.getResume();
    String refusal =
        resume == null || Resume.isWellFormed(resume)
            ? null
            : "Hello.resume was not issued by a bus (expected: Welcome.resume, unchanged)";
    String token = hello.getChange();
    if (refusal == null && token != null) {
      refusal = move.accept(token, resume, proven);
    }
    if (refusal != null) {
      reject(refusal);
      return;
    }
    SubscriptionIndex account = enter(proven);
    if (account == null) {
      return;
    }
    QuotaAccounts.Entry entry =
        loop.bus.quotas().enter(proven, loop.bus.sessions().wouldReplace(resume, proven));
    if (entry instanceof QuotaAccounts.Entry.Full full) {
      account.accounts().leave(account);
      rejectRetryable(ErrorCode.LIMIT_EXCEEDED, full.message());
      return;
    }
    index = account;
    session.enter(account);
    share(((QuotaAccounts.Entry.Open) entry).share());
    authentication.close();
    applyPrincipal(proven);
    identity =
        loop.bus
            .sessions()
            .identify(
                hello,
                proven,
                number -> loop.bus.cluster().isLaneLocal(loop.router.loop(), number));
    if (resume != null && !resume.equals(identity.resume())) {
      loop.bus.stats().resumesRejected.increment();
    }
    loop.bus.memory().reserve(identity.attributeBytes());
    session.become(SessionState.OPEN);
    loop.bus.sessions().add(session, move.grant() != null);
    String previous = hello.getPrevious();
    if (previous != null
        && move.grant() == null
        && identity.resume().equals(resume)
        && loop.bus.sessions().closeStale(previous, identity.producer())) {
      move.resumedFromPeer();
    }
    loop.bus.advisories().tell(ClientAdvisories.connected(session));
    out.send(ControlFrames.encode(TypeCode.WELCOME, welcome()));
  }

  private Welcome welcome() {
    Welcome welcome = new Welcome();
    welcome.setBus(loop.bus.name());
    welcome.setSession(identity.id());
    welcome.setProducer(identity.producer());
    welcome.setResume(identity.resume());
    welcome.setLimits(WireLimits.of(loop.bus.limits()));
    welcome.setOthers(loop.bus.sessions().others());
    welcome.setExpiresAt(expiresAtMicros());
    welcome.setCalls(loop.bus.services().calls());
    welcome.setServices(loop.bus.services().perConnection());
    welcome.setTunnels(loop.calls.settings().tunnels().perConnection());
    welcome.setWindow(loop.calls.settings().tunnels().windowBytes());
    welcome.setDurable(loop.bus.journals() != null);
    return welcome;
  }

  /**
   * Returns the index of a client's account; rejects the client and returns null if there is no
   * room for the account.
   */
  private @Nullable SubscriptionIndex enter(Principal proven) {
    int max = loop.bus.limits().accounts();
    SubscriptionIndex account = loop.bus.index().accounts().enter(proven.account(), max);
    if (account == null) {
      rejectRetryable(
          ErrorCode.LIMIT_EXCEEDED,
          "the bus has clients of "
              + max
              + " accounts, and none of this client's (expected: at most "
              + max
              + ", limits.accounts); try again later, or another bus");
    }
    return account;
  }

  /** Applies a principal with its permissions and expiry. */
  void applyPrincipal(Principal proven) {
    principal = proven;
    expiry.renew(proven, authentication.begunAt());
    session.permit(proven.permissions());
  }

  /** Applies the quotas of a principal, charging what the client uses already. */
  void renewQuotas(Principal proven) {
    ConnectionQuota share = quotas;
    if (proven.quotas().areNone()) {
      closeShare();
      share(null);
    } else if (share != null) {
      share.renew(proven.quotas());
    } else {
      ConnectionQuota joined = loop.bus.quotas().join(proven);
      joined.hasSubscriptions(session.subscriptions().held());
      share(joined);
    }
  }

  private void share(@Nullable ConnectionQuota share) {
    quotas = share;
    session.share(share);
  }

  /** Releases what the client had of its quotas. */
  void closeShare() {
    ConnectionQuota share = quotas;
    if (share != null) {
      quotas = null;
      share.close();
    }
  }

  /** Returns the quotas of the client; null for none. */
  @Nullable ConnectionQuota quotas() {
    return quotas;
  }

  /** Removes an admitted client from the sessions of the bus. */
  void leave() {
    loop.bus.sessions().remove(session);
    loop.bus.advisories().tell(ClientAdvisories.disconnected(session));
    loop.bus.memory().release(identity.attributeBytes());
  }

  /** Leaves the client's account, when its subscriptions have ended. */
  void leaveAccount() {
    SubscriptionIndex account = index;
    index = null;
    if (account != null) {
      account.accounts().leave(account);
    }
  }

  @Override
  public void denied(Action action, String name, Supplier<Verdict> verdict) {
    // The search for the rule takes time each, and the client chooses how often.
    loop.budget().spend(principal.permissions().of(action).size() / RULES_PER_UNIT);
    Verdict explained = verdict.get();
    loop.denials.denied(displayName(), action, name, explained);
    loop.bus.advisories().tell(ClientAdvisories.denied(session, action, name, explained));
  }

  /** Returns the client's name for operators; the name that it gives itself is not verified. */
  private String displayName() {
    String subject = principal.subject();
    String account = principal.account();
    return (subject.isEmpty() ? "a client without a name" : "'" + subject + "'")
        + (account.isEmpty() ? "" : " of account '" + account + "'")
        + (identity.client().isEmpty() ? "" : ", which calls itself '" + identity.client() + "',");
  }

  /** Returns when the client's credential expires, in microseconds since the epoch. */
  long expiresAtMicros() {
    Instant expires = principal.expiresAt();
    return expires == null ? 0 : TimeUnit.MILLISECONDS.toMicros(expires.toEpochMilli());
  }

  /** Returns the authenticated principal; {@link Principal#UNKNOWN} before the welcome. */
  Principal principal() {
    return principal;
  }

  /** Returns the client; {@link ClientInfo#UNKNOWN} before the welcome. */
  ClientInfo identity() {
    return identity;
  }
}
