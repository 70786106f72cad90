package io.eventbus.server.session;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DataView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Welcome;
import io.eventbus.server.call.CallerInfo;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Principal;
import io.eventbus.server.security.RevocationList;
import io.eventbus.server.security.Verdict;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Session of one client.
 *
 * <p>Confined to the loop that owns the connection, except for methods marked "any thread". It
 * handles a message frame by frame; where it has to wait it returns its position, and goes on from
 * there when called again.
 *
 * <p>It is one class because every frame is judged by its state; the details of frames are in the
 * classes that it combines.
 */
public final class Session {
  /** Cost of an answer that refuses a frame, in addition to that frame. */
  private static final int PROBLEM_UNITS = 32;

  /** Rules that are checked in one unit of work. */
  private static final int RULES_PER_UNIT = 4;

  /** Frames a moving client may send before its move is final. */
  private static final Set<TypeCode> ALLOWED_WHILE_MOVING =
      EnumSet.of(
          TypeCode.HELLO,
          TypeCode.SUBSCRIBE,
          TypeCode.REGISTER,
          TypeCode.CREDIT,
          TypeCode.ECHO,
          TypeCode.AUTHENTICATE);

  /** Frames that bypass a stalled publish. */
  private static final Set<TypeCode> BYPASS_PUBLISH_BACKLOG =
      EnumSet.of(
          TypeCode.REGISTER,
          TypeCode.UNREGISTER,
          TypeCode.REQUEST,
          TypeCode.REPLY,
          TypeCode.FAILURE,
          TypeCode.CANCEL,
          TypeCode.DATA,
          TypeCode.CAPACITY,
          TypeCode.CREDIT,
          TypeCode.ECHO);

  /**
   * Grace period after a credential expires before its client is closed: ten seconds more than the
   * accepted clock skew between a bus and an issuer, so that a credential that admitted a client
   * never ends its connection at once.
   */
  static final Duration EXPIRY_GRACE = Authentications.MAX_SKEW.plusSeconds(10);

  private final LoopContext loop;
  private final ClientLink link;
  private final SessionAuthentication authentication;
  private final TokenRenewal renewal;
  private final SessionPublishing publishing;
  private final PayloadQuota payload;
  private final SessionSubscriptions subscriptions;
  private final Acknowledgements acknowledgements;
  // Allocated on first use: most clients neither call nor serve.
  private final ServiceShare callShare;
  private final ServiceShare registrationShare;
  // Budget clock and total at the end of the last call of this message: the clock is read once
  // for each, not twice. 0 before the first.
  private long clockedAt;
  private long clockedTotal;
  private @Nullable SessionCalls calls;
  private volatile @Nullable SessionServices services;
  private @Nullable SessionTunnels tunnels;
  private boolean flushOnClose;
  // True if the client lost its connection to a peer before.
  private boolean resumedFromPeer;
  // True if the client has closed the connection on purpose.
  private boolean saidGoodbye;
  private final PendingMove move = new PendingMove();

  // Allocated with the first barrier.
  private @Nullable SessionBarriers barriers;

  // Allocated with the first event of a client that also takes part in calls.
  private @Nullable PublishBacklog backlog;

  private SessionState state = SessionState.AWAITING_HELLO;

  private volatile Principal principal = Principal.UNKNOWN;
  // Deadline on the bus's clock; Long.MAX_VALUE for never.
  private long expiresAtMillis = Long.MAX_VALUE;
  // Time when the credential was issued, or, if unknown, when it was shown.
  private Instant issuedAt = Instant.EPOCH;
  // List of the last revocation check; null before the first.
  private @Nullable RevocationList checkedRevocations;
  // Result of that check.
  private boolean revoked;
  private volatile ClientInfo identity = ClientInfo.UNKNOWN;
  private volatile MoveTokens.@Nullable Grant moveGrant;

  // Index of the client's account, which is kept as long as the client is here; null before the
  // welcome.
  private @Nullable SubscriptionIndex index;

  // Null where there are no quotas for this client.
  private @Nullable ConnectionQuota quotas;

  // A moving client first only subscribes, and goes back if it cannot; true when the move is
  // final.
  private boolean moveComplete;

  // Wall-clock time of a receipt: a message that has to wait was received when it arrived.
  private long receivedNanos;
  private long receivedAt;

  /** Creates a session that waits for {@code Hello}. */
  public Session(LoopContext loop, ClientLink link) {
    this.loop = loop;
    this.link = link;
    this.authentication =
        new SessionAuthentication(loop.bus.authentications(), link, loop.bus.clock());
    this.renewal = new TokenRenewal(this, link, authentication);
    Denials shown = this::denied;
    this.callShare = loop.calls.share(link);
    this.registrationShare = loop.calls.registrations(link);
    this.publishing = new SessionPublishing(loop, link, this::refuse, shown);
    this.payload = new PayloadQuota(loop, link);
    this.acknowledgements = new Acknowledgements(loop.bus.memory(), loop.stats);
    this.subscriptions =
        new SessionSubscriptions(
            loop,
            link,
            this::refuse,
            shown,
            () -> moveGrant != null && !moveComplete,
            move::isPending);
  }

  /**
   * Handles a message, or the rest of one.
   *
   * @param from the index of the first byte to handle
   * @param to the index after the last byte
   * @param nowNanos {@link System#nanoTime} at the receipt
   * @param retry called once, by any thread, if the session has to wait
   * @return {@code to} when everything was handled or the session is closed; else the index to
   *     continue at after {@code retry} was called
   */
  public int onMessage(ByteBuffer message, int from, int to, long nowNanos, Runnable retry) {
    if (nowNanos != receivedNanos || receivedAt == 0) {
      receivedNanos = nowNanos;
      receivedAt = loop.bus.nowMicros();
    }
    clockedAt = 0;
    FrameCursor frames = loop.frames.wrap(message, from, to);
    try {
      while (state != SessionState.CLOSED && frames.next()) {
        if (loop.budget().mustYield()) {
          link.nextTurn(retry);
          return frames.frameStart();
        }
        if (!take(message, frames, nowNanos, retry)) {
          return frames.frameStart();
        }
        loop.budget().spend(1);
      }
    } catch (MalformedFrameException e) {
      onMalformed(e, frames.typeCode());
    }
    return to;
  }

  /** Handles a frame, or keeps it behind a waiting event; returns false if it has to wait. */
  private boolean take(ByteBuffer message, FrameCursor frames, long nowNanos, Runnable retry) {
    PublishBacklog before = backlog;
    if (before != null
        && before.isWaiting()
        && !BYPASS_PUBLISH_BACKLOG.contains(TypeCode.of(frames.typeCode()))) {
      return before.add(message, frames.frameStart(), frames.bodyEnd(), retry);
    }
    if (link.mustWait(retry)) {
      return false;
    }
    if (onFrame(message, frames, nowNanos, retry)) {
      return true;
    }
    PublishBacklog behind = backlog;
    if (behind == null || payload.waits() || !publishing.awaitsRoom()) {
      return false;
    }
    // The event calls the backlog's retry when there may be room.
    behind.begin(receivedNanos, receivedAt);
    return behind.add(message, frames.frameStart(), frames.bodyEnd(), retry);
  }

  /** Schedules the backlog, because there may be room for its event; any thread. */
  private void resumeBacklog() {
    link.execute(() -> link.inTurn(this::handleBacklog));
  }

  private void handleBacklog() {
    PublishBacklog behind = backlog;
    if (behind == null || !behind.isWaiting() || state == SessionState.CLOSED) {
      return;
    }
    receivedNanos = behind.receivedNanos();
    receivedAt = behind.receivedAt();
    clockedAt = 0;
    ByteBuffer bytes = behind.frames();
    FrameCursor frames = loop.frames.wrap(bytes, bytes.position(), bytes.limit());
    try {
      while (state != SessionState.CLOSED && frames.next()) {
        if (loop.budget().mustYield()) {
          behind.handledTo(frames.frameStart());
          link.inTurn(this::handleBacklog);
          return;
        }
        if (!onFrame(bytes, frames, receivedNanos, behind.resume())) {
          behind.handledTo(frames.frameStart());
          return;
        }
        loop.budget().spend(1);
      }
    } catch (MalformedFrameException e) {
      onMalformed(e, frames.typeCode());
    }
    behind.handledAll();
  }

  /** Returns the retry for an event: that of the backlog for a client with calls. */
  private Runnable retryOfPublish(Runnable retry) {
    if (!usesCalls()) {
      return retry;
    }
    PublishBacklog created = backlog;
    if (created == null) {
      created =
          new PublishBacklog(callShare, loop.bus.limits().messageBytes(), this::resumeBacklog);
      backlog = created;
    }
    return created.resume();
  }

  private void onMalformed(MalformedFrameException e, int typeCode) {
    String message = String.valueOf(e.getMessage());
    ErrorCode code = e.isTooBig() ? ErrorCode.TOO_BIG : ErrorCode.MALFORMED;
    refuse(code, message, 0, typeCode, "");
    closeHere(e.isTooBig() ? CloseReason.TOO_BIG : CloseReason.MALFORMED, message);
  }

  /** Dispatches a frame; returns false if it has to wait. */
  private boolean onFrame(ByteBuffer in, FrameCursor frames, long nowNanos, Runnable retry) {
    TypeCode type = TypeCode.of(frames.typeCode());
    if (state == SessionState.AWAITING_HELLO && type != TypeCode.HELLO) {
      violation(
          "the first frame has type code " + frames.typeCode() + " (expected: 0, Hello)",
          frames.typeCode());
      return true;
    }
    if (type == TypeCode.PUBLISH) {
      moveComplete = true;
      return publishing.publish(
          in,
          frames.bodyStart(),
          frames.bodyEnd(),
          identity.producer(),
          receivedAt,
          nowNanos,
          retryOfPublish(retry));
    }
    if (!payload.tryAcquire(type, frames.bodyEnd() - frames.bodyStart(), retry)) {
      return false;
    }
    if (type == TypeCode.REQUEST || type == TypeCode.REPLY) {
      onCall(in, frames, type, nowNanos);
      return true;
    }
    if (type == TypeCode.DATA) {
      moveComplete = true;
      tunnelFrame(
          getOrCreateTunnels().data(in, frames.bodyStart(), frames.bodyEnd(), nowNanos),
          type.code());
      return true;
    }
    long began = loop.budget().now();
    try {
      return onOther(in, frames, type, retry);
    } catch (MalformedFrameException e) {
      if (!e.isTooBig() || state != SessionState.OPEN) {
        throw e;
      }
      // The frame's end is known, so that later frames are unaffected.
      boolean hasId =
          type == TypeCode.SUBSCRIBE || type == TypeCode.REGISTER || type == TypeCode.CAPACITY;
      long about = hasId ? ServiceFrames.firstNumber(in, frames.bodyStart(), frames.bodyEnd()) : 0;
      refuse(ErrorCode.TOO_BIG, String.valueOf(e.getMessage()), about, frames.typeCode(), "");
      return true;
    } finally {
      loop.budget().spendSince(began);
    }
  }

  private void onCall(ByteBuffer in, FrameCursor frames, TypeCode type, long nowNanos) {
    if (clockedAt == 0) {
      clockedAt = loop.budget().now();
      clockedTotal = loop.budget().total();
    }
    try {
      if (type == TypeCode.REQUEST) {
        request(in, frames.bodyStart(), frames.bodyEnd());
      } else {
        answered(
            getOrCreateServices().reply(in, frames.bodyStart(), frames.bodyEnd(), nowNanos),
            type.code());
      }
    } finally {
      clockedAt = loop.budget().spendSince(clockedAt, clockedTotal);
      clockedTotal = loop.budget().total();
    }
  }

  private boolean onOther(
      ByteBuffer in, FrameCursor frames, @Nullable TypeCode type, Runnable retry) {
    if (!ALLOWED_WHILE_MOVING.contains(type)) {
      moveComplete = true;
    }
    if (type == null) {
      refuse(
          ErrorCode.UNKNOWN_TYPE,
          "type code "
              + frames.typeCode()
              + " is unknown to this bus (expected: "
              + TypeCode.knownCodes()
              + "); the frame was skipped",
          0,
          frames.typeCode(),
          "");
      return true;
    }
    FrameHandler handler = FrameHandlers.of(type);
    if (handler == null) {
      violation("a client sent " + type + ", which only a bus may send", frames.typeCode());
      return true;
    }
    return handler.handle(this, in, frames.bodyStart(), frames.bodyEnd(), retry);
  }

  private void request(ByteBuffer in, int from, int to) {
    moveComplete = true;
    if (!getOrCreateCalls().request(in, from, to, receivedAt)) {
      violation(
          "the call "
              + loop.request.call()
              + " is in flight already (expected: a number of its own)",
          TypeCode.REQUEST.code());
    }
  }

  private SessionCalls getOrCreateCalls() {
    SessionCalls created = calls;
    if (created == null) {
      String subject = principal.subject();
      Object share = subject.isEmpty() ? this : new User(principal.account(), subject);
      created =
          new SessionCalls(
              loop,
              link,
              new CallerInfo(
                  identity.producer(), subject.getBytes(UTF_8), principal.account(), share),
              callShare,
              principal.permissions(),
              this::denied,
              this::getOrCreateTunnels);
      created.share(quotas);
      calls = created;
    }
    return created;
  }

  private SessionTunnels getOrCreateTunnels() {
    SessionTunnels created = tunnels;
    if (created == null) {
      created = new SessionTunnels(loop, link, callShare);
      tunnels = created;
    }
    return created;
  }

  /** Closes a client that sends too many wrong stream and tunnel frames. */
  private void tunnelFrame(boolean right, int typeCode) {
    if (!right) {
      violation(
          "too many frames of streams and tunnels that this client does not have, or that are"
              + " wrong",
          typeCode);
    }
  }

  /** Fair-queueing key: the clients of one user take turns together where calls wait. */
  private record User(String account, String subject) {}

  /** Closes a client that answers calls it was not given. */
  private void answered(boolean known, int typeCode) {
    if (!known) {
      violation("too many answers to calls that this client does not have", typeCode);
    }
  }

  /** Cancels a call; an unknown call may have ended meanwhile. */
  void cancel(Cancel cancel) {
    SessionTunnels open = tunnels;
    if (open != null && open.cancel(cancel.getCall(), cancel.getReason())) {
      return;
    }
    if (calls != null) {
      calls.cancel(cancel);
    }
  }

  /** Handles the failure of a call that the client serves. */
  void failure(ByteBuffer in, int from, int to) {
    SessionTunnels open = tunnels;
    if (open != null && open.failure(in, from, to)) {
      return;
    }
    answered(getOrCreateServices().failure(in, from, to, receivedNanos), TypeCode.FAILURE.code());
  }

  /** Returns the services of the client, created on first use. */
  SessionServices getOrCreateServices() {
    SessionServices created = services;
    if (created == null) {
      created =
          new SessionServices(
              loop,
              link,
              callShare,
              registrationShare,
              this::refuse,
              principal.account(),
              identity.producer(),
              principal.permissions(),
              this::denied,
              subscriptions,
              new SessionPresence(
                  loop.calls.presence(),
                  principal.account(),
                  () -> identity,
                  this::movedRecently,
                  move::isPending,
                  () -> saidGoodbye),
              () -> moveGrant != null && !moveComplete,
              this::getOrCreateTunnels);
      services = created;
    }
    return created;
  }

  /**
   * Returns whether the client was at a peer a moment ago, so that a registration is hardly a new
   * one.
   */
  private boolean movedRecently() {
    return (moveGrant != null || resumedFromPeer)
        && loop.bus.clock().instant().isBefore(identity.since().plus(loop.bus.services().rejoin()));
  }

  /** Returns the services of the client, or null if it never served any; any thread. */
  public @Nullable SessionServices services() {
    return services;
  }

  private boolean usesCalls() {
    return calls != null || services != null;
  }

  /** Adds a subscription, unless its id is that of a registration. */
  boolean subscribe(Subscribe request, Runnable retry) {
    SessionServices serves = services;
    if (serves != null && serves.has(request.getId())) {
      refuse(
          ErrorCode.DUPLICATE_SUBSCRIPTION,
          "the number " + request.getId() + " is that of a service (expected: a new one)",
          request.getId(),
          TypeCode.SUBSCRIBE.code(),
          "");
      return true;
    }
    return subscriptions.subscribe(request, retry);
  }

  private void violation(String message, int typeCode) {
    refuse(ErrorCode.PROTOCOL_VIOLATION, message, 0, typeCode, "");
    closeHere(CloseReason.PROTOCOL_ERROR, message);
  }

  /**
   * Authenticates and admits a client. Returns false if it has to wait; then the same frame is
   * handled again.
   */
  boolean hello(ByteBuffer in, int from, int to, Runnable retry) {
    if (state == SessionState.OPEN) {
      violation("a second Hello (expected: one in a connection)", TypeCode.HELLO.code());
      return true;
    }
    Hello hello = ControlFrames.hello(in, from, to);
    if (state == SessionState.AWAITING_HELLO) {
      state = state.to(SessionState.AUTHENTICATING);
      authentication.begin(hello.getUser(), hello.getToken(), hello.getClient(), receivedNanos);
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

  private void reject(String refusal) {
    refuse(ErrorCode.UNAUTHENTICATED, refusal, 0, TypeCode.HELLO.code(), "");
    closeHere(CloseReason.UNAUTHENTICATED, refusal);
  }

  /** Closes a client with a retryable error: the cause is not the client's, or temporary. */
  private void rejectRetryable(ErrorCode code, String message) {
    sendProblem(new Problem(code, message, true, 0L, TypeCode.HELLO.code(), ""));
    closeHere(CloseReason.OVERLOADED, message);
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
      refusal = acceptMove(token, resume, proven);
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
    publishing.enter(account);
    subscriptions.enter(account);
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
    state = state.to(SessionState.OPEN);
    loop.bus.sessions().add(this, moveGrant != null);
    String previous = hello.getPrevious();
    if (previous != null && moveGrant == null && identity.resume().equals(resume)) {
      resumedFromPeer = loop.bus.sessions().closeStale(previous, identity.producer());
    }
    loop.bus.advisories().tell(ClientAdvisories.connected(this));
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
    link.send(ControlFrames.encode(TypeCode.WELCOME, welcome));
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

  /** Starts the check of a new token; the answer follows later. */
  void renew(Authenticate request) {
    renewal.begin(request, receivedNanos);
  }

  /** Returns when the client's credential expires, in microseconds since the epoch. */
  long expiresAtMicros() {
    Instant expires = principal.expiresAt();
    return expires == null ? 0 : TimeUnit.MILLISECONDS.toMicros(expires.toEpochMilli());
  }

  /** Applies a principal with its permissions and expiry. */
  void applyPrincipal(Principal proven) {
    principal = proven;
    Instant expires = proven.expiresAt();
    expiresAtMillis = expires == null ? Long.MAX_VALUE : expires.plus(EXPIRY_GRACE).toEpochMilli();
    Instant issued = proven.issuedAt();
    // The time of the check's start, not its end: what was revoked meanwhile is revoked.
    issuedAt = issued == null ? authentication.begunAt() : issued;
    checkedRevocations = null;
    publishing.permit(proven.permissions());
    subscriptions.permit(proven.permissions());
    if (calls != null) {
      calls.permit(proven.permissions());
    }
    SessionServices serves = services;
    if (serves != null) {
      serves.permit(proven.permissions());
    }
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
      joined.hasSubscriptions(subscriptions.held());
      share(joined);
    }
  }

  private void share(@Nullable ConnectionQuota share) {
    quotas = share;
    publishing.share(share);
    payload.share(share);
    subscriptions.share(share);
    if (calls != null) {
      calls.share(share);
    }
    link.shareQuota(share);
  }

  private void closeShare() {
    ConnectionQuota share = quotas;
    if (share != null) {
      quotas = null;
      share.close();
    }
  }

  private void expire() {
    String message = "the credential of this client has expired; reconnect with a new token";
    loop.bus.advisories().tell(ClientAdvisories.expired(this));
    sendProblem(
        new Problem(ErrorCode.UNAUTHENTICATED, message, true, 0L, TypeCode.HELLO.code(), ""));
    closeHere(CloseReason.EXPIRED, message);
  }

  private void revoke() {
    String message = "the credential of this client was revoked";
    loop.bus.advisories().tell(ClientAdvisories.revoked(this));
    sendProblem(
        new Problem(ErrorCode.UNAUTHENTICATED, message, false, 0L, TypeCode.HELLO.code(), ""));
    closeHere(CloseReason.UNAUTHENTICATED, message);
  }

  private boolean isRevoked(RevocationList list) {
    Principal proven = principal;
    return !proven.subject().isEmpty() && list.covers(proven.account(), proven.subject(), issuedAt);
  }

  /** Returns the client's name for operators; the name that it gives itself is not verified. */
  private String displayName() {
    String subject = principal.subject();
    String account = principal.account();
    return (subject.isEmpty() ? "a client without a name" : "'" + subject + "'")
        + (account.isEmpty() ? "" : " of account '" + account + "'")
        + (identity.client().isEmpty() ? "" : ", which calls itself '" + identity.client() + "',");
  }

  private void denied(Action action, String name, Supplier<Verdict> verdict) {
    // The search for the rule takes time each, and the client chooses how often.
    loop.budget().spend(principal.permissions().of(action).size() / RULES_PER_UNIT);
    Verdict explained = verdict.get();
    loop.denials.denied(displayName(), action, name, explained);
    loop.bus.advisories().tell(ClientAdvisories.denied(this, action, name, explained));
  }

  /** Handles credit for deliveries or for a tunnel. */
  void credit(ByteBuffer in, int from, int to) {
    DataView credit = loop.data;
    credit.readCredit(in, from, to);
    SessionTunnels open = tunnels;
    if (credit.call() == 0) {
      link.grant(credit.limit());
    } else if (open != null) {
      tunnelFrame(open.credit(credit, receivedNanos), TypeCode.CREDIT.code());
    }
  }

  /** Admits a moving client; returns null, or the reason for a refusal. */
  private @Nullable String acceptMove(String token, @Nullable String resume, Principal proven) {
    if (resume == null) {
      return "Hello.change without Hello.resume (expected: both, or none)";
    }
    if (!loop.bus.sessions().isValid(resume)) {
      // The client would get another number than the one in the token, which it claims.
      return "Hello.change with a Hello.resume that was not made with this bus's key (expected: one"
          + " of a bus with the same key; see auth.resume-key-file)";
    }
    MoveTokens.Redeemed redeemed =
        loop.bus.sessions().tokens().redeem(token, Resume.producer(resume, proven));
    moveGrant = redeemed.grant();
    return redeemed.refusal();
  }

  private void refuse(ErrorCode code, String message, long about, int typeCode, String topic) {
    String shown = message.length() > 1000 ? message.substring(0, 1000) : message;
    sendProblem(new Problem(code, shown, false, about, typeCode, topic));
  }

  /** Sends a problem to the client. */
  void sendProblem(Problem problem) {
    loop.bus.stats().countProblem(problem.getCode());
    loop.budget().spend(PROBLEM_UNITS);
    link.send(ControlFrames.encode(TypeCode.PROBLEM, problem));
  }

  /** Closes the session; any thread. */
  public void close(CloseReason reason, String message) {
    link.execute(() -> closeHere(reason, message));
  }

  /**
   * Asks the client to move to another bus; any thread.
   *
   * @param request target and token
   * @param listener gets the outcome; also if the client has gone already, or has not answered an
   *     earlier request
   */
  public void askToMove(ChangeBus request, MoveListener listener) {
    link.execute(
        () -> {
          if (state != SessionState.OPEN) {
            listener.left();
          } else if (move.begin(request.getToken(), listener)) {
            link.send(ControlFrames.encode(TypeCode.CHANGE_BUS, request));
            // Its time starts when the client has read the request: much may be queued before.
            link.whenRead(() -> move.read(request.getToken()));
          } else {
            listener.declined("an earlier request to move is unanswered");
          }
        });
  }

  /**
   * Closes a client that has not completed its move in time; any thread. Spares clients that
   * unsubscribed everything and only drain, because what is queued for them here is nowhere else. A
   * client that is closed gets its queue first.
   *
   * @param token token of the request; ignored if it was answered
   * @param url URL of the bus where the client is to continue
   */
  public void endMove(String token, String url) {
    link.execute(
        () -> {
          boolean drains = subscriptions.hasUnsubscribedAll() && link.queuedBytes() > 0;
          if (move.isFor(token) && !drains) {
            // Queued events are still flushOnClose.
            flushOnClose = true;
            link.closeWhenWritten(CloseReason.CHANGE_BUS, "go on at " + url);
            onClosed();
          }
        });
  }

  private void closeHere(CloseReason reason, String message) {
    if (state != SessionState.CLOSED) {
      link.close(reason, message);
      onClosed();
    }
  }

  /**
   * Checks deadlines; called several times a second on the loop.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return whether nothing is pending, so that the next check may be a second later
   */
  public boolean onTick(long nowNanos) {
    authentication.onTick(nowNanos);
    publishing.onTick(nowNanos);
    if (move.isPending() && subscriptions.held() == 0) {
      move.subscribesNothing();
    }
    endIfExpiredOrRevoked();
    renewal.onTick();
    PublishBacklog behind = backlog;
    return !authentication.isPending()
        && !publishing.awaitsRoom()
        && (behind == null || !behind.isWaiting())
        && !isDueToEnd()
        && !renewal.isReviewing();
  }

  private boolean isDueToEnd() {
    return revoked || loop.bus.clock().millis() > expiresAtMillis;
  }

  private void endIfExpiredOrRevoked() {
    if (expiresAtMillis != Long.MAX_VALUE
        && state == SessionState.OPEN
        && loop.bus.clock().millis() > expiresAtMillis
        && loop.budget().hasUpkeepLeft()) {
      long began = loop.budget().now();
      expire();
      loop.budget().spendOnUpkeep(began);
    }
    if (state != SessionState.OPEN) {
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
      long began = loop.budget().now();
      revoke();
      loop.budget().spendOnUpkeep(began);
    }
  }

  /** Notifies the client that it may no longer stall publishers. */
  public void onStalledTooLong(String message) {
    refuse(ErrorCode.SLOW_CONSUMER, message, 0, TypeCode.SUBSCRIBE.code(), "");
  }

  /** Called when the client closes the connection on purpose; {@link #onClosed} follows. */
  public void onGoodbye() {
    saidGoodbye = true;
  }

  /** Ends the session, once the connection is closed or about to be. */
  public void onClosed() {
    if (state == SessionState.CLOSED) {
      return;
    }
    if (state == SessionState.OPEN) {
      loop.bus.sessions().remove(this);
      loop.bus.advisories().tell(ClientAdvisories.disconnected(this));
      loop.bus.memory().release(identity.attributeBytes());
    }
    state = state.to(SessionState.CLOSED);
    authentication.close();
    move.left();
    if (calls != null) {
      calls.close();
    }
    SessionServices serves = services;
    if (serves != null) {
      serves.close(flushOnClose ? Long.MAX_VALUE : link.invokesWritten());
    }
    if (tunnels != null) {
      tunnels.close();
    }
    SubscriptionIndex account = index;
    index = null;
    subscriptions.removeAll(
        () -> {
          if (account != null) {
            account.accounts().leave(account);
          }
        });
    if (backlog != null) {
      backlog.clear();
    }
    acknowledgements.close();
    closeShare();
  }

  /** Returns whether the client was welcomed; also after its end. */
  public boolean isWelcomed() {
    return identity.producer() != 0;
  }

  /** Returns whether the client has sent Hello and was neither welcomed nor refused. */
  public boolean isAuthenticating() {
    return state == SessionState.AUTHENTICATING;
  }

  /**
   * Returns whether an event of the client waits for room in another queue, or a frame waits for a
   * quota, with all later frames of the client; true until {@link #onMessage} has handled it.
   */
  public boolean awaitsRoom() {
    return payload.waits() || (publishing.awaitsRoom() && (backlog == null || backlog.isFull()));
  }

  /**
   * Returns the key that all connections of the client's identity share: its account and name; null
   * for a client without a name. Any thread.
   */
  public @Nullable String identityKey() {
    Principal proven = principal;
    return proven.subject().isEmpty() ? null : proven.account() + '\n' + proven.subject();
  }

  /**
   * Returns the authenticated principal with its permissions; {@link Principal#UNKNOWN} before the
   * welcome. Any thread.
   */
  public Principal principal() {
    return principal;
  }

  /**
   * Returns the description that the client gives of itself, and its producer number; any thread.
   */
  public ClientInfo identity() {
    return identity;
  }

  /** Returns the session's id; any thread. */
  public String id() {
    return identity.id();
  }

  /** Returns the producer number, 0 before Hello; any thread. */
  public long producer() {
    return identity.producer();
  }

  /** Returns the subscriptions; any thread. */
  public SessionSubscriptions subscriptions() {
    return subscriptions;
  }

  /**
   * Returns the estimated bytes that the bus's memory counts for this client: attributes,
   * acknowledgements, services, open calls with their requests, and tunnels; any thread.
   */
  public long keptBytes() {
    return identity.attributeBytes()
        + acknowledgements.bytes()
        + callShare.bytes()
        + registrationShare.bytes();
  }

  /** Returns the acknowledgements; any thread. */
  public Acknowledgements acknowledgements() {
    return acknowledgements;
  }

  SessionBarriers barriers() {
    SessionBarriers created = barriers;
    if (created == null) {
      created = new SessionBarriers(loop, this);
      barriers = created;
    }
    return created;
  }

  PendingMove move() {
    return move;
  }

  boolean isOpen() {
    return state == SessionState.OPEN;
  }

  /** Returns the number of events that the client has published here; any thread. */
  public long published() {
    return publishing.events();
  }

  /**
   * Returns the content of the token with which the client moved here, or null if it did not move;
   * any thread.
   */
  public MoveTokens.@Nullable Grant moveGrant() {
    return moveGrant;
  }

  /** Returns the connection. */
  public ClientLink link() {
    return link;
  }
}
