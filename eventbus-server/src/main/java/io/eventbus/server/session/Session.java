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
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.routing.ServiceShare;
import io.eventbus.server.routing.SubscriptionIndex;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Principal;
import io.eventbus.server.security.RevocationList;
import io.eventbus.server.security.Verdict;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One client: what it has said, and what it is told.
 *
 * <p>Confined to the loop that owns the connection, except for what is said to be for any thread.
 * It handles a message frame by frame; where it has to wait it says how far it came, and goes on
 * from there when it is called again.
 *
 * <p>It is one class because every frame is judged by its state; what frames do in detail is in the
 * classes that it puts together.
 */
public final class Session {
  /** What an answer that refuses something costs beside the frame that it refuses. */
  private static final int PROBLEM_UNITS = 32;

  /** Rules that are looked at in a unit of a turn. */
  private static final int RULES_OF_UNIT = 4;

  /** What a client may send that comes from another bus and may still go back. */
  private static final Set<TypeCode> ON_THE_WAY =
      EnumSet.of(
          TypeCode.HELLO,
          TypeCode.SUBSCRIBE,
          TypeCode.REGISTER,
          TypeCode.CREDIT,
          TypeCode.ECHO,
          TypeCode.AUTHENTICATE);

  /** What need not wait behind an event that waits for room. */
  private static final Set<TypeCode> ALONGSIDE =
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
   * How long after the expiry of what it proved who it is with a client is closed: ten seconds more
   * than the clocks of a bus and an issuer may differ, so that what let a client in never ends its
   * connection at once.
   */
  static final Duration AFTER_EXPIRY = Authentications.MAX_SKEW.plusSeconds(10);

  private final LoopContext loop;
  private final ClientLink link;
  private final SessionAuthentication authentication;
  private final TokenRenewal renewal;
  private final SessionPublishing publishing;
  private final PayloadQuota payload;
  private final SessionSubscriptions subscriptions;
  private final Acknowledgements acknowledgements;
  // Made on first use: most clients neither call nor serve.
  private final ServiceShare heldForCalls;
  private final ServiceShare heldForRegistrations;
  // The budget's clock and total where the last call of this message ended: the clock is read once
  // for each, not twice. 0 before the first.
  private long clockedAt;
  private long clockedTotal;
  private @Nullable SessionCalls calls;
  private volatile @Nullable SessionServices services;
  private @Nullable SessionTunnels tunnels;
  private boolean written;
  // It was at another bus before, and has lost that connection.
  private boolean cameBack;
  // It has closed the connection because it wants no more.
  private boolean goodbye;
  private final PendingMove change = new PendingMove();

  // Made with the first barrier.
  private @Nullable SessionBarriers barriers;

  // Made with the first event of a client that also takes part in calls.
  private @Nullable PublishBacklog backlog;

  private SessionState state = SessionState.AWAITING_HELLO;

  private volatile Principal principal = Principal.UNKNOWN;
  // By the bus's clock; Long.MAX_VALUE for never.
  private long endsAtMillis = Long.MAX_VALUE;
  // When what it has proved that with was issued; where that is not known, when it was shown.
  private Instant issuedAt = Instant.EPOCH;
  // What it was held against; null for nothing yet.
  private @Nullable RevocationList heldAgainst;
  // What came of that.
  private boolean revoked;
  private volatile ClientInfo identity = ClientInfo.UNKNOWN;
  private volatile MoveTokens.@Nullable Grant arrival;

  // Of the client's account, which is kept as long as it is here; null before the welcome.
  private @Nullable SubscriptionIndex index;

  // Null where there are no quotas for this client.
  private @Nullable ConnectionQuota quotas;

  // A client that comes from another bus first only subscribes, and goes back if it cannot.
  private boolean settled;

  // The time of day that belongs to a receipt: also a message that has to wait was received when it
  // came.
  private long receivedNanos;
  private long receivedAt;

  /** Makes a session that waits for {@code Hello}. */
  public Session(LoopContext loop, ClientLink link) {
    this.loop = loop;
    this.link = link;
    this.authentication =
        new SessionAuthentication(loop.bus.authentications(), link, loop.bus.clock());
    this.renewal = new TokenRenewal(this, link, authentication);
    Denials shown = this::denied;
    this.heldForCalls = loop.calls.share(link);
    this.heldForRegistrations = loop.calls.registrations(link);
    this.publishing = new SessionPublishing(loop, link, this::refuse, shown);
    this.payload = new PayloadQuota(loop, link);
    this.acknowledgements = new Acknowledgements(loop.bus.memory(), loop.stats);
    this.subscriptions =
        new SessionSubscriptions(
            loop, link, this::refuse, shown, () -> arrival != null && !settled, change::isPending);
  }

  /**
   * Handles a message, or the rest of one.
   *
   * @param from the index of the first byte to handle
   * @param to the index after the last byte
   * @param nowNanos {@link System#nanoTime} at the receipt
   * @param retry called once, by any thread, if the session has to wait
   * @return {@code to} when all was handled or the session is closed; else where to go on after
   *     {@code retry} was called
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

  /** Handles a frame, or keeps it behind an event that waits; returns false if it has to wait. */
  private boolean take(ByteBuffer message, FrameCursor frames, long nowNanos, Runnable retry) {
    PublishBacklog before = backlog;
    if (before != null
        && before.isWaiting()
        && !ALONGSIDE.contains(TypeCode.of(frames.typeCode()))) {
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

  /** There may be room for the event that waits; any thread. */
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

  /** Where the retry of an event that has to wait comes from. */
  private Runnable retryOfPublish(Runnable retry) {
    if (!usesCalls()) {
      return retry;
    }
    PublishBacklog made = backlog;
    if (made == null) {
      made =
          new PublishBacklog(heldForCalls, loop.bus.limits().messageBytes(), this::resumeBacklog);
      backlog = made;
    }
    return made.resume();
  }

  private void onMalformed(MalformedFrameException e, int typeCode) {
    String message = String.valueOf(e.getMessage());
    ErrorCode code = e.isTooBig() ? ErrorCode.TOO_BIG : ErrorCode.MALFORMED;
    refuse(code, message, 0, typeCode, "");
    closeHere(e.isTooBig() ? CloseReason.TOO_BIG : CloseReason.MALFORMED, message);
  }

  /** Returns false if the frame has to wait. */
  private boolean onFrame(ByteBuffer in, FrameCursor frames, long nowNanos, Runnable retry) {
    TypeCode type = TypeCode.of(frames.typeCode());
    if (state == SessionState.AWAITING_HELLO && type != TypeCode.HELLO) {
      violation(
          "the first frame has type code " + frames.typeCode() + " (expected: 0, Hello)",
          frames.typeCode());
      return true;
    }
    if (type == TypeCode.PUBLISH) {
      settled = true;
      return publishing.publish(
          in,
          frames.bodyStart(),
          frames.bodyEnd(),
          identity.producer(),
          receivedAt,
          nowNanos,
          retryOfPublish(retry));
    }
    if (!payload.take(type, frames.bodyEnd() - frames.bodyStart(), retry)) {
      return false;
    }
    if (type == TypeCode.REQUEST || type == TypeCode.REPLY) {
      onCall(in, frames, type, nowNanos);
      return true;
    }
    if (type == TypeCode.DATA) {
      settled = true;
      tunnelFrame(
          tunnelsMade().data(in, frames.bodyStart(), frames.bodyEnd(), nowNanos), type.code());
      return true;
    }
    long began = loop.budget().now();
    try {
      return onOther(in, frames, type, retry);
    } catch (MalformedFrameException e) {
      if (!e.isTooBig() || state != SessionState.OPEN) {
        throw e;
      }
      // Where its frame ends is known, so that nothing else is spoilt.
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
            servicesMade().reply(in, frames.bodyStart(), frames.bodyEnd(), nowNanos), type.code());
      }
    } finally {
      clockedAt = loop.budget().spendSince(clockedAt, clockedTotal);
      clockedTotal = loop.budget().total();
    }
  }

  private boolean onOther(
      ByteBuffer in, FrameCursor frames, @Nullable TypeCode type, Runnable retry) {
    if (!ON_THE_WAY.contains(type)) {
      settled = true;
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
    settled = true;
    if (!callsMade().request(in, from, to, receivedAt)) {
      violation(
          "the call "
              + loop.request.call()
              + " is in flight already (expected: a number of its own)",
          TypeCode.REQUEST.code());
    }
  }

  private SessionCalls callsMade() {
    SessionCalls made = calls;
    if (made == null) {
      String subject = principal.subject();
      Object share = subject.isEmpty() ? this : new User(principal.account(), subject);
      made =
          new SessionCalls(
              loop,
              link,
              new CallerInfo(
                  identity.producer(), subject.getBytes(UTF_8), principal.account(), share),
              heldForCalls,
              principal.permissions(),
              this::denied,
              this::tunnelsMade);
      made.share(quotas);
      calls = made;
    }
    return made;
  }

  private SessionTunnels tunnelsMade() {
    SessionTunnels made = tunnels;
    if (made == null) {
      made = new SessionTunnels(loop, link, heldForCalls);
      tunnels = made;
    }
    return made;
  }

  /** Ends one that sends too many frames of streams and tunnels that are wrong. */
  private void tunnelFrame(boolean right, int typeCode) {
    if (!right) {
      violation(
          "too many frames of streams and tunnels that this client does not have, or that are"
              + " wrong",
          typeCode);
    }
  }

  /** Whose clients take turns as one where calls wait. */
  private record User(String account, String subject) {}

  /** Ends one that answers what it was not asked. */
  private void answered(boolean known, int typeCode) {
    if (!known) {
      violation("too many answers to calls that this client does not have", typeCode);
    }
  }

  /** Gives up a call; one that is not there may have ended meanwhile. */
  void cancel(Cancel cancel) {
    SessionTunnels open = tunnels;
    if (open != null && open.cancel(cancel.getCall(), cancel.getReason())) {
      return;
    }
    if (calls != null) {
      calls.cancel(cancel);
    }
  }

  /** Takes an answer without a reply. */
  void failure(ByteBuffer in, int from, int to) {
    SessionTunnels open = tunnels;
    if (open != null && open.failure(in, from, to)) {
      return;
    }
    answered(servicesMade().failure(in, from, to, receivedNanos), TypeCode.FAILURE.code());
  }

  /** What the client serves, made if this is the first of it. */
  SessionServices servicesMade() {
    SessionServices made = services;
    if (made == null) {
      made =
          new SessionServices(
              loop,
              link,
              heldForCalls,
              heldForRegistrations,
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
                  this::hasJustMoved,
                  change::isPending,
                  () -> goodbye),
              () -> arrival != null && !settled,
              this::tunnelsMade);
      services = made;
    }
    return made;
  }

  /** Whether it was at another bus a moment ago, so that it hardly serves something new. */
  private boolean hasJustMoved() {
    return (arrival != null || cameBack)
        && loop.bus.clock().instant().isBefore(identity.since().plus(loop.bus.services().rejoin()));
  }

  /**
   * Returns what the client serves; any thread.
   *
   * @return null if it never has
   */
  public @Nullable SessionServices services() {
    return services;
  }

  private boolean usesCalls() {
    return calls != null || services != null;
  }

  /** Adds a subscription, unless its number is that of a registration. */
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
   * Lets the client in, or not.
   *
   * @return false if it has to wait; then the same frame comes again
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
      letIn(hello, accepted.principal());
    } else if (answer instanceof Authentication.Unavailable unavailable) {
      turnAway(ErrorCode.OVERLOADED, unavailable.message());
    } else if (answer instanceof Authentication.Refused refused) {
      shutOut(refused.message());
    }
    return true;
  }

  private void shutOut(String refusal) {
    refuse(ErrorCode.UNAUTHENTICATED, refusal, 0, TypeCode.HELLO.code(), "");
    closeHere(CloseReason.UNAUTHENTICATED, refusal);
  }

  /** What is wrong is not the client's doing, or will pass: it may try again. */
  private void turnAway(ErrorCode code, String message) {
    tell(new Problem(code, message, true, 0L, TypeCode.HELLO.code(), ""));
    closeHere(CloseReason.OVERLOADED, message);
  }

  /** Welcomes a client that has proved who it is, if the rest of its {@code Hello} is right. */
  private void letIn(Hello hello, Principal who) {
    String resume = hello.getResume();
    String refusal =
        resume == null || Resume.isWellFormed(resume)
            ? null
            : "Hello.resume is not one that a bus gave (expected: Welcome.resume, unchanged)";
    String token = hello.getChange();
    if (refusal == null && token != null) {
      refusal = arrive(token, resume, who);
    }
    if (refusal != null) {
      shutOut(refusal);
      return;
    }
    SubscriptionIndex account = enter(who);
    if (account == null) {
      return;
    }
    QuotaAccounts.Entry entry =
        loop.bus.quotas().enter(who, loop.bus.sessions().wouldReplace(resume, who));
    if (entry instanceof QuotaAccounts.Entry.Full full) {
      account.accounts().leave(account);
      turnAway(ErrorCode.LIMIT_EXCEEDED, full.message());
      return;
    }
    index = account;
    publishing.enter(account);
    subscriptions.enter(account);
    share(((QuotaAccounts.Entry.Open) entry).share());
    authentication.close();
    become(who);
    identity =
        loop.bus
            .sessions()
            .identify(
                hello, who, number -> loop.bus.cluster().leavesOn(loop.router.loop(), number));
    if (resume != null && !resume.equals(identity.resume())) {
      loop.bus.stats().resumesRejected.increment();
    }
    loop.bus.memory().reserve(identity.attributeBytes());
    state = state.to(SessionState.OPEN);
    loop.bus.sessions().add(this, arrival != null);
    String previous = hello.getPrevious();
    if (previous != null && arrival == null && identity.resume().equals(resume)) {
      cameBack = loop.bus.sessions().cameBack(previous, identity.producer());
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

  /** Finds the name space of a client's account; where there is none for it, it is turned away. */
  private @Nullable SubscriptionIndex enter(Principal who) {
    int most = loop.bus.limits().accounts();
    SubscriptionIndex account = loop.bus.index().accounts().enter(who.account(), most);
    if (account == null) {
      turnAway(
          ErrorCode.LIMIT_EXCEEDED,
          "the bus has clients of "
              + most
              + " accounts, and none of this client's (expected: at most "
              + most
              + ", limits.accounts); try again later, or another bus");
    }
    return account;
  }

  /** Takes a new token; the answer comes later. */
  void renew(Authenticate request) {
    renewal.begin(request, receivedNanos);
  }

  /** Until when what the client proved who it is with holds, as the protocol says it. */
  long expiresAtMicros() {
    Instant expires = principal.expiresAt();
    return expires == null ? 0 : TimeUnit.MILLISECONDS.toMicros(expires.toEpochMilli());
  }

  /** From now on the client is this one, with what it may do and until when. */
  void become(Principal who) {
    principal = who;
    Instant expires = who.expiresAt();
    endsAtMillis = expires == null ? Long.MAX_VALUE : expires.plus(AFTER_EXPIRY).toEpochMilli();
    Instant issued = who.issuedAt();
    // Not when it was accepted: what was revoked while it was checked is revoked.
    issuedAt = issued == null ? authentication.begunAt() : issued;
    heldAgainst = null;
    publishing.permit(who.permissions());
    subscriptions.permit(who.permissions());
    if (calls != null) {
      calls.permit(who.permissions());
    }
    SessionServices serves = services;
    if (serves != null) {
      serves.permit(who.permissions());
    }
  }

  /** From now on the client has these quotas, with what it uses already. */
  void renewQuotas(Principal who) {
    ConnectionQuota share = quotas;
    if (who.quotas().areNone()) {
      closeShare();
      share(null);
    } else if (share != null) {
      share.renew(who.quotas());
    } else {
      ConnectionQuota joined = loop.bus.quotas().join(who);
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
    String message =
        "what this client proved who it is with has expired; reconnect with a new token";
    loop.bus.advisories().tell(ClientAdvisories.expired(this));
    tell(new Problem(ErrorCode.UNAUTHENTICATED, message, true, 0L, TypeCode.HELLO.code(), ""));
    closeHere(CloseReason.EXPIRED, message);
  }

  private void revoke() {
    String message = "what this client proved who it is with was revoked";
    loop.bus.advisories().tell(ClientAdvisories.revoked(this));
    tell(new Problem(ErrorCode.UNAUTHENTICATED, message, false, 0L, TypeCode.HELLO.code(), ""));
    closeHere(CloseReason.UNAUTHENTICATED, message);
  }

  private boolean isRevoked(RevocationList list) {
    Principal who = principal;
    return !who.subject().isEmpty() && list.covers(who.account(), who.subject(), issuedAt);
  }

  /** The client as operators know it; what it calls itself is not proved. */
  private String shownClient() {
    String subject = principal.subject();
    String account = principal.account();
    return (subject.isEmpty() ? "a client without a name" : "'" + subject + "'")
        + (account.isEmpty() ? "" : " of account '" + account + "'")
        + (identity.client().isEmpty() ? "" : ", which calls itself '" + identity.client() + "',");
  }

  private void denied(Action action, String name, Supplier<Verdict> verdict) {
    // To find the rule takes time for each: the client chooses how often.
    loop.budget().spend(principal.permissions().of(action).size() / RULES_OF_UNIT);
    Verdict explained = verdict.get();
    loop.denials.denied(shownClient(), action, name, explained);
    loop.bus.advisories().tell(ClientAdvisories.denied(this, action, name, explained));
  }

  /** Takes how much the client lets the bus deliver, or send it by way of a tunnel. */
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

  /** Lets a client in that comes from another bus; null, or why not. */
  private @Nullable String arrive(String token, @Nullable String resume, Principal who) {
    if (resume == null) {
      return "Hello.change without Hello.resume (expected: both, or none)";
    }
    if (!loop.bus.sessions().isGood(resume)) {
      // It would get another number, and the token is for the one that it claims.
      return "Hello.change with a Hello.resume that was not made with this bus's key (expected: one"
          + " of a bus with the same key; see auth.resume-key-file)";
    }
    MoveTokens.Redeemed redeemed =
        loop.bus.sessions().tokens().redeem(token, Resume.producer(resume, who));
    arrival = redeemed.grant();
    return redeemed.refusal();
  }

  private void refuse(ErrorCode code, String message, long about, int typeCode, String topic) {
    String shown = message.length() > 1000 ? message.substring(0, 1000) : message;
    tell(new Problem(code, shown, false, about, typeCode, topic));
  }

  /** Answers a frame with something that went wrong. */
  void tell(Problem problem) {
    loop.bus.stats().countProblem(problem.getCode());
    loop.budget().spend(PROBLEM_UNITS);
    link.send(ControlFrames.encode(TypeCode.PROBLEM, problem));
  }

  /** Closes the session; any thread. */
  public void close(CloseReason reason, String message) {
    link.execute(() -> closeHere(reason, message));
  }

  /**
   * Asks the client to go on at another bus; any thread.
   *
   * @param request where to, and with which token
   * @param listener hears what becomes of it; also when the client is gone already, or was asked
   *     before and has not answered
   */
  public void askToChange(ChangeBus request, MoveListener listener) {
    link.execute(
        () -> {
          if (state != SessionState.OPEN) {
            listener.left();
          } else if (change.begin(request.getToken(), listener)) {
            link.send(ControlFrames.encode(TypeCode.CHANGE_BUS, request));
            // Its time begins when it knows: much may be queued before.
            link.whenRead(() -> change.read(request.getToken()));
          } else {
            listener.declined("it was asked before, and has not answered");
          }
        });
  }

  /**
   * Closes a client that has not done what it was asked for; any thread. Not one that has left
   * already but for reading what is queued for it here, which it gets nowhere else: that takes as
   * long as it reads. A client that is closed gets what is queued first.
   *
   * @param token of the request; nothing happens if it was answered
   * @param url where the client is to go on
   */
  public void endChange(String token, String url) {
    link.execute(
        () -> {
          boolean readsTheRest = subscriptions.hasUnsubscribedAll() && link.queuedBytes() > 0;
          if (change.isFor(token) && !readsTheRest) {
            // What is queued goes out still.
            written = true;
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
   * Looks at what lasts; to be called several times a second on the loop.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return whether nothing waits, so that the next look may be a second later
   */
  public boolean onTick(long nowNanos) {
    authentication.onTick(nowNanos);
    publishing.onTick(nowNanos);
    if (change.isPending() && subscriptions.held() == 0) {
      change.subscribesNothing();
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
    return revoked || loop.bus.clock().millis() > endsAtMillis;
  }

  private void endIfExpiredOrRevoked() {
    if (endsAtMillis != Long.MAX_VALUE
        && state == SessionState.OPEN
        && loop.bus.clock().millis() > endsAtMillis
        && loop.budget().hasUpkeepLeft()) {
      long began = loop.budget().now();
      expire();
      loop.budget().spendOnUpkeep(began);
    }
    if (state != SessionState.OPEN) {
      return;
    }
    // Each session looks for itself, so that none is missed that comes while the list changes.
    RevocationList list = loop.bus.revocations().current();
    if (list != heldAgainst) {
      heldAgainst = list;
      revoked = isRevoked(list);
    }
    // Looking is one comparison or one look-up in a map; only closing costs time.
    if (revoked && loop.budget().hasUpkeepLeft()) {
      long began = loop.budget().now();
      revoke();
      loop.budget().spendOnUpkeep(began);
    }
  }

  /** Tells the client that it may not hold publishers back any longer. */
  public void onHeldTooLong(String message) {
    refuse(ErrorCode.SLOW_CONSUMER, message, 0, TypeCode.SUBSCRIBE.code(), "");
  }

  /** The client closes the connection because it wants no more; {@link #onClosed} follows. */
  public void onGoodbye() {
    goodbye = true;
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
    change.left();
    if (calls != null) {
      calls.close();
    }
    SessionServices serves = services;
    if (serves != null) {
      serves.close(written ? Long.MAX_VALUE : link.invokesWritten());
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

  /**
   * Says whether the client has said Hello and was welcomed.
   *
   * @return true if it was, also after the end
   */
  public boolean isWelcomed() {
    return identity.producer() != 0;
  }

  /**
   * Says whether the client has said Hello and has not heard yet whether it is let in.
   *
   * @return true until it is welcomed or refused
   */
  public boolean isAuthenticating() {
    return state == SessionState.AUTHENTICATING;
  }

  /**
   * Says whether an event of the client waits for room elsewhere, or anything for a quota, and all
   * that it has sent since, its calls included.
   *
   * @return true until {@link #onMessage} has handled it
   */
  public boolean awaitsRoom() {
    return payload.waits() || (publishing.awaitsRoom() && (backlog == null || backlog.isFull()));
  }

  /**
   * Returns what all connections of the client's identity have in common; any thread.
   *
   * @return its account and name; null for a client without a name
   */
  public @Nullable String identityKey() {
    Principal who = principal;
    return who.subject().isEmpty() ? null : who.account() + '\n' + who.subject();
  }

  /**
   * Returns who the client has proved to be, and what it may do; any thread.
   *
   * @return {@link Principal#UNKNOWN} before the welcome
   */
  public Principal principal() {
    return principal;
  }

  /** Returns what the client says of itself, and the number that it publishes under; any thread. */
  public ClientInfo identity() {
    return identity;
  }

  /** Returns the session's id; any thread. */
  public String id() {
    return identity.id();
  }

  /**
   * Returns the producer's number; any thread.
   *
   * @return 0 before Hello
   */
  public long producer() {
    return identity.producer();
  }

  /** Returns the subscriptions; any thread. */
  public SessionSubscriptions subscriptions() {
    return subscriptions;
  }

  /**
   * Returns about what is kept because of what the client said: attributes, acknowledgements,
   * services, calls that have not ended with their requests, and tunnels; any thread.
   *
   * @return bytes that the bus's memory counts
   */
  public long keptBytes() {
    return identity.attributeBytes()
        + acknowledgements.bytes()
        + heldForCalls.bytes()
        + heldForRegistrations.bytes();
  }

  /** Returns the acknowledgements; any thread. */
  public Acknowledgements acknowledgements() {
    return acknowledgements;
  }

  SessionBarriers barriers() {
    SessionBarriers made = barriers;
    if (made == null) {
      made = new SessionBarriers(loop, this);
      barriers = made;
    }
    return made;
  }

  PendingMove change() {
    return change;
  }

  boolean isOpen() {
    return state == SessionState.OPEN;
  }

  /** Returns how many events the client has published here; any thread. */
  public long published() {
    return publishing.events();
  }

  /**
   * Says how the client came here from another bus; any thread.
   *
   * @return what its token said; null for a client that came by itself
   */
  public MoveTokens.@Nullable Grant arrival() {
    return arrival;
  }

  /** Returns the connection. */
  public ClientLink link() {
    return link;
  }
}
