package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.durable.JournalConsumers;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Session of one client.
 *
 * <p>Confined to the loop that owns the connection, except for methods marked "any thread". It
 * handles a message frame by frame; where it has to wait it returns its position, and goes on from
 * there when called again.
 *
 * <p>It gives each frame to the part that handles it; the parts of a client's life are classes of
 * their own: {@link SessionAdmission}, {@link SessionExpiry}, {@link SessionMove}.
 */
public final class Session {
  /** Cost of an answer that refuses a frame, in addition to that frame. */
  private static final int PROBLEM_UNITS = 32;

  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final AddressLimits address;
  private final SessionAdmission admission;
  private final SessionExpiry expiry;
  private final SessionMove move;
  private final SessionPublishing publishing;
  private final PayloadQuota payload;
  private final SessionSubscriptions subscriptions;
  private final SessionCallFrames calls;
  private final Acknowledgements acknowledgements;

  // Allocated with the first barrier.
  private @Nullable SessionBarriers barriers;

  // Allocated with the first frame for durable topics; any thread reads.
  private volatile @Nullable SessionConsumers consumers;

  // Allocated with the first event of a client that also takes part in calls.
  private @Nullable PublishBacklog backlog;

  private SessionState state = SessionState.AWAITING_HELLO;

  // True if the client has closed the connection on purpose.
  private boolean saidGoodbye;
  private boolean busEnds;

  // Wall-clock time of a receipt: a message that has to wait was received when it arrived.
  private long receivedNanos;
  private long receivedAt;

  /** Creates a session that waits for {@code Hello}. */
  public Session(
      LoopContext loop, Outbound out, ConnectionControl connection, AddressLimits address) {
    Refusal refusal = this::refuse;
    this.loop = loop;
    this.out = out;
    this.connection = connection;
    this.address = address;
    this.move = new SessionMove(loop, out, connection, this);
    this.expiry = new SessionExpiry(loop, this);
    this.admission = new SessionAdmission(loop, out, connection, address, this, move, expiry);
    this.publishing = new SessionPublishing(loop, out, connection, this, refusal, admission);
    this.payload = new PayloadQuota(loop, connection);
    this.acknowledgements = new Acknowledgements(loop.bus.memory(), loop.stats);
    this.subscriptions =
        new SessionSubscriptions(loop, out, connection, address, refusal, admission, move);
    this.calls = new SessionCallFrames(loop, out, connection, address, this, admission, move);
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
    boolean again = nowNanos == receivedNanos && receivedAt != 0;
    received(nowNanos, again ? receivedAt : loop.bus.nowMicros());
    FrameCursor frames = loop.frames.wrap(message, from, to);
    try {
      while (state != SessionState.CLOSED && frames.next()) {
        if (loop.budget().mustYield()) {
          connection.nextTurn(retry);
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

  /** Begins with frames that were received at this time. */
  void received(long nanos, long at) {
    receivedNanos = nanos;
    receivedAt = at;
    calls.beginMessage();
  }

  /** Handles a frame, or keeps it behind a waiting event; returns false if it has to wait. */
  private boolean take(ByteBuffer message, FrameCursor frames, long nowNanos, Runnable retry) {
    PublishBacklog before = backlog;
    if (before != null && before.mustHold(frames.typeCode())) {
      return before.add(message, frames.frameStart(), frames.bodyEnd(), retry);
    }
    if (out.mustWait(retry)) {
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

  /** Returns the retry for an event: that of the backlog for a client with calls. */
  private Runnable retryOfPublish(Runnable retry) {
    if (!calls.areUsed()) {
      return retry;
    }
    PublishBacklog created = backlog;
    if (created == null) {
      created = new PublishBacklog(loop, connection, this, calls.callShare());
      backlog = created;
    }
    return created.retry();
  }

  /** Closes a client whose frames cannot be decoded. */
  void onMalformed(MalformedFrameException e, int typeCode) {
    String message = String.valueOf(e.getMessage());
    ErrorCode code = e.isTooBig() ? ErrorCode.TOO_BIG : ErrorCode.MALFORMED;
    refuse(code, message, 0, typeCode, "");
    closeHere(e.isTooBig() ? CloseReason.TOO_BIG : CloseReason.MALFORMED, message);
  }

  /** Dispatches a frame; returns false if it has to wait. */
  boolean onFrame(ByteBuffer in, FrameCursor frames, long nowNanos, Runnable retry) {
    TypeCode type = TypeCode.of(frames.typeCode());
    if (state == SessionState.AWAITING_HELLO && type != TypeCode.HELLO) {
      violation(
          "the first frame has type code " + frames.typeCode() + " (expected: 0, Hello)",
          frames.typeCode());
      return true;
    }
    if (type == TypeCode.PUBLISH) {
      move.complete();
      return publishing.publish(
          in,
          frames.bodyStart(),
          frames.bodyEnd(),
          producer(),
          receivedAt,
          nowNanos,
          retryOfPublish(retry));
    }
    if (!payload.tryAcquire(type, frames.bodyEnd() - frames.bodyStart(), retry)) {
      return false;
    }
    if (type == TypeCode.REQUEST || type == TypeCode.REPLY) {
      calls.call(in, frames.bodyStart(), frames.bodyEnd(), type, receivedAt, nowNanos);
      return true;
    }
    if (type == TypeCode.DATA) {
      calls.data(in, frames.bodyStart(), frames.bodyEnd(), nowNanos);
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
      long about = FrameHandlers.idOf(type, in, frames.bodyStart(), frames.bodyEnd());
      refuse(ErrorCode.TOO_BIG, String.valueOf(e.getMessage()), about, frames.typeCode(), "");
      return true;
    } finally {
      loop.budget().spendSince(began);
    }
  }

  private boolean onOther(
      ByteBuffer in, FrameCursor frames, @Nullable TypeCode type, Runnable retry) {
    move.onFrame(type);
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
    if (FrameHandlers.isForDurableTopics(type) && loop.bus.consumers() == null) {
      refuse(
          ErrorCode.UNKNOWN_TYPE,
          type + " is for durable topics, which this bus does not have; the frame was skipped",
          0,
          type.code(),
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

  /** Closes a client that breaks the protocol. */
  void violation(String message, int typeCode) {
    refuse(ErrorCode.PROTOCOL_VIOLATION, message, 0, typeCode, "");
    closeHere(CloseReason.PROTOCOL_ERROR, message);
  }

  /** Changes the state along its life cycle. */
  void become(SessionState next) {
    state = state.to(next);
  }

  /** Sets the index of the client's account. */
  void enter(SubscriptionIndex account) {
    publishing.enter(account);
    subscriptions.enter(account);
  }

  /** Sets the permissions that apply from now on. */
  void permit(Permissions permissions) {
    publishing.permit(permissions);
    subscriptions.permit(permissions);
    calls.permit(permissions);
  }

  /** Sets the quotas that apply from now on; null for none. */
  void share(@Nullable ConnectionQuota share) {
    publishing.share(share);
    payload.share(share);
    subscriptions.share(share);
    calls.share(share);
    out.share(share);
  }

  /** Returns what the clients of the same address have in common. */
  Object addressShare() {
    return address.shareOf();
  }

  /** Sends a client a problem that refuses a request; see {@link Refusal}. */
  void refuse(ErrorCode code, String message, long about, int typeCode, String topic) {
    String shown = message.length() > 1000 ? message.substring(0, 1000) : message;
    sendProblem(new Problem(code, shown, false, about, typeCode, topic));
  }

  /** Sends a problem to the client. */
  void sendProblem(Problem problem) {
    loop.bus.stats().countProblem(problem.getCode());
    loop.budget().spend(PROBLEM_UNITS);
    out.send(ControlFrames.encode(TypeCode.PROBLEM, problem));
  }

  /** Closes the session; any thread. */
  public void close(CloseReason reason, String message) {
    connection.execute(() -> closeHere(reason, message));
  }

  /** Asks the client to move to another bus, and tells the outcome; any thread. */
  public void askToMove(ChangeBus request, MoveListener listener) {
    connection.execute(() -> move.ask(request, listener));
  }

  /**
   * Closes a client that has not completed its move in time, when its queue is written; any thread.
   * Spares clients that unsubscribed everything and only drain.
   *
   * @param token token of the request; ignored if it was answered
   */
  public void endMove(String token, String url) {
    connection.execute(() -> move.end(token, url));
  }

  /** Closes an open session. */
  void closeHere(CloseReason reason, String message) {
    if (state != SessionState.CLOSED) {
      connection.close(reason, message);
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
    admission.onTick(nowNanos);
    publishing.onTick(nowNanos);
    move.onTick();
    expiry.check();
    admission.renewal().onTick();
    SessionConsumers consuming = consumers;
    if (consuming != null) {
      consuming.onTick();
    }
    PublishBacklog behind = backlog;
    return !admission.isPending()
        && !publishing.awaitsRoom()
        && (behind == null || !behind.isWaiting())
        && !expiry.isDue()
        && !admission.renewal().isReviewing();
  }

  /** Notifies the client that it may no longer stall publishers. */
  public void onStalledTooLong(String message) {
    refuse(ErrorCode.SLOW_CONSUMER, message, 0, TypeCode.SUBSCRIBE.code(), "");
  }

  /** Called when the client closes the connection on purpose; {@link #onClosed} follows. */
  public void onGoodbye() {
    saidGoodbye = true;
  }

  /** Called when the bus ends; {@link #onClosed} follows. */
  public void onShutdown() {
    busEnds = true;
  }

  /** Ends the session, once the connection is closed or about to be. */
  public void onClosed() {
    if (state == SessionState.CLOSED) {
      return;
    }
    if (state == SessionState.OPEN) {
      admission.leave();
    }
    state = state.to(SessionState.CLOSED);
    admission.cancel();
    move.left();
    calls.close();
    SessionConsumers consuming = consumers;
    if (consuming != null) {
      consuming.close(!saidGoodbye && !busEnds);
    }
    subscriptions.removeAll(admission::leaveAccount);
    if (backlog != null) {
      backlog.clear();
    }
    publishing.close();
    acknowledgements.close();
    admission.closeShare();
  }

  /** Returns whether the client was welcomed; also after its end. */
  public boolean isWelcomed() {
    return producer() != 0;
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
    Principal proven = principal();
    return proven.subject().isEmpty() ? null : proven.account() + '\n' + proven.subject();
  }

  /** Returns the principal, {@link Principal#UNKNOWN} before the welcome; any thread. */
  public Principal principal() {
    return admission.principal();
  }

  /** Returns the client's description of itself, and its producer number; any thread. */
  public ClientInfo identity() {
    return admission.identity();
  }

  /** Returns the session's id; any thread. */
  public String id() {
    return identity().id();
  }

  /** Returns the producer number, 0 before Hello; any thread. */
  public long producer() {
    return identity().producer();
  }

  /** Returns the subscriptions; any thread. */
  public SessionSubscriptions subscriptions() {
    return subscriptions;
  }

  /**
   * Returns the estimated bytes that the bus's memory counts for this client: attributes,
   * acknowledgements, services, open calls with their requests, tunnels and consumers; any thread.
   */
  public long keptBytes() {
    SessionConsumers consuming = consumers;
    return identity().attributeBytes()
        + acknowledgements.bytes()
        + calls.keptBytes()
        + (consuming == null ? 0 : consuming.keptBytes());
  }

  /** Returns the acknowledgements; any thread. */
  public Acknowledgements acknowledgements() {
    return acknowledgements;
  }

  /** Runs a task when the client's events for durable topics are stored or refused. */
  void whenStored(Runnable task) {
    publishing.whenStored(task);
  }

  /** Returns the consumers of the client on a bus with durable topics, created on first use. */
  SessionConsumers consumers() {
    SessionConsumers created = consumers;
    if (created == null) {
      JournalConsumers all = loop.bus.consumers();
      if (all == null) {
        throw new IllegalStateException("consumers of a bus without durable topics");
      }
      created = new SessionConsumers(loop, all, out, connection, address, this);
      consumers = created;
    }
    return created;
  }

  /** Returns the consumers of the client; null if it never had any. */
  @Nullable SessionConsumers consumersIfAny() {
    return consumers;
  }

  SessionBarriers barriers() {
    SessionBarriers created = barriers;
    if (created == null) {
      created = new SessionBarriers(loop, this);
      barriers = created;
    }
    return created;
  }

  /** Returns the services of the client, or null if it never served any; any thread. */
  public @Nullable SessionServices services() {
    return calls.services();
  }

  SessionMove move() {
    return move;
  }

  SessionAdmission admission() {
    return admission;
  }

  SessionCallFrames calls() {
    return calls;
  }

  /** Returns the time of receipt of the current frame, as {@link System#nanoTime}. */
  long receivedNanos() {
    return receivedNanos;
  }

  /** Returns whether the client has closed the connection on purpose. */
  boolean saidGoodbye() {
    return saidGoodbye;
  }

  boolean isClosed() {
    return state == SessionState.CLOSED;
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
    return move.grant();
  }

  /** Returns the connection. */
  public ConnectionControl connection() {
    return connection;
  }

  /** Returns what goes out to the client. */
  public Outbound out() {
    return out;
  }

  /** Returns the number of events queued for the client since the start; any thread. */
  public long delivered() {
    return out.delivered();
  }
}
