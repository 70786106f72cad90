package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ChangeBus;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.security.Principal;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Moves of one client: to this bus, with a token in {@code Hello}, and from here to another bus,
 * when it is asked to. Confined to the loop except for {@link #grant}.
 */
final class SessionMove {
  /** Frames a moving client may send before its move is final. */
  private static final Set<TypeCode> ALLOWED_WHILE_MOVING =
      EnumSet.of(
          TypeCode.HELLO,
          TypeCode.SUBSCRIBE,
          TypeCode.REGISTER,
          TypeCode.CREDIT,
          TypeCode.ECHO,
          TypeCode.AUTHENTICATE);

  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final Session session;
  private volatile MoveTokens.@Nullable Grant grant;
  // A client that moves here first only subscribes, and goes back if it cannot; true when the move
  // is final.
  private boolean complete;
  // True if the client lost its connection to a peer before.
  private boolean resumedFromPeer;
  // Request that the client has not answered, at most one; null for none.
  private @Nullable String token;
  private @Nullable MoveListener listener;
  // True when everything that the client published here before its move has reached the
  // subscribers.
  private boolean flushed;
  private boolean trailing;
  private boolean closingWhenWritten;

  SessionMove(LoopContext loop, Outbound out, ConnectionControl connection, Session session) {
    this.loop = loop;
    this.out = out;
    this.connection = connection;
    this.session = session;
  }

  /**
   * Accepts a client that shows a token; returns null, or the reason for a refusal.
   *
   * @param change token of the client's move
   */
  @Nullable String accept(String change, @Nullable String resume, Principal proven) {
    if (resume == null) {
      return "Hello.change without Hello.resume (expected: both, or none)";
    }
    if (!loop.bus.sessions().isValid(resume)) {
      // The client would get another number than the one in the token, which it claims.
      return "Hello.change with a Hello.resume that was not made with this bus's key (expected: one"
          + " of a bus with the same key; see auth.resume-key-file)";
    }
    MoveTokens.Redeemed redeemed =
        loop.bus.sessions().tokens().redeem(change, Resume.producer(resume, proven));
    grant = redeemed.grant();
    return redeemed.refusal();
  }

  /**
   * Returns the content of the token with which the client moved here, or null if it did not move;
   * any thread.
   */
  MoveTokens.@Nullable Grant grant() {
    return grant;
  }

  /** Returns whether the client has moved here and may still go back. */
  boolean isMovingHere() {
    return grant != null && !complete;
  }

  /** Completes the move to this bus: the client will not go back. */
  void complete() {
    complete = true;
  }

  /** Completes the move to this bus if the client sends a frame that is for its new bus only. */
  void onFrame(@Nullable TypeCode type) {
    if (!ALLOWED_WHILE_MOVING.contains(type)) {
      complete = true;
    }
  }

  /** Called when the client has lost its connection to a peer and has come here. */
  void resumedFromPeer() {
    resumedFromPeer = true;
  }

  /**
   * Returns whether the client was at a peer a moment ago, so that a registration is hardly a new
   * one.
   *
   * @param since time of the welcome
   */
  boolean isRecent(Instant since) {
    return (grant != null || resumedFromPeer)
        && loop.bus.clock().instant().isBefore(since.plus(loop.bus.services().rejoin()));
  }

  /**
   * Asks the client to move to another bus.
   *
   * @param outcome told also if the session has ended, or an earlier request is unanswered
   */
  void ask(ChangeBus request, MoveListener outcome) {
    if (!session.isOpen()) {
      outcome.left();
      return;
    }
    if (listener != null) {
      outcome.declined("an earlier request to move is unanswered");
      return;
    }
    token = request.getToken();
    listener = outcome;
    out.send(ControlFrames.encode(TypeCode.CHANGE_BUS, request));
    // Its time starts when the client has read the request: much may be queued before.
    connection.whenRead(
        () -> {
          if (isFor(request.getToken())) {
            progresses();
          }
        });
  }

  /** Closes a client that has not completed its move in time, behind what is queued for it. */
  void end(String requestToken, String url) {
    // The queue here for a client that only drains is nowhere else.
    boolean drains = session.subscriptions().hasUnsubscribedAll() && out.bytes() > 0;
    if (isFor(requestToken) && !drains) {
      closingWhenWritten = true;
      connection.closeWhenWritten(CloseReason.CHANGE_BUS, "go on at " + url);
      session.onClosed();
    }
  }

  /** Returns whether the connection is closed when everything queued is written. */
  boolean isClosingWhenWritten() {
    return closingWhenWritten;
  }

  /** Returns whether the client has not answered a request. */
  boolean isPending() {
    return listener != null;
  }

  private boolean isFor(String requestToken) {
    return requestToken.equals(token);
  }

  /** Reports a step of the pending move, if any. */
  void progresses() {
    MoveListener current = listener;
    if (current != null) {
      current.progresses();
    }
  }

  /** Called when a barrier of the client was answered. */
  void flushed() {
    flushed = isPending();
  }

  /** Reports once that a client that moves has no subscription left and serves nothing. */
  void onTick() {
    MoveListener current = listener;
    if (current != null && flushed && !trailing && session.subscriptions().held() == 0) {
      trailing = true;
      current.trails();
    }
  }

  /** Called when the client declines the move; ignored for another request. */
  void failed(String requestToken, String reason) {
    MoveListener current = listener;
    if (current != null && isFor(requestToken)) {
      clear();
      current.declined(reason);
    }
  }

  /** Called when the client's session has ended. */
  void left() {
    MoveListener current = listener;
    if (current != null) {
      clear();
      current.left();
    }
  }

  private void clear() {
    token = null;
    listener = null;
    flushed = false;
    trailing = false;
  }
}
