package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.tunnel.TunnelEnding;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import org.jspecify.annotations.Nullable;

/** Note about a call from one loop to another; recycled by {@link CallHandOver}. */
final class CallNote {
  /** Type of a note; determines which fields are set. */
  enum Kind {
    /** To the member's loop: dispatch. call, member. */
    INVOKE,
    /** To the member's loop: the call has ended for its caller. number, member, text, timedOut. */
    CANCEL,
    /** To the member's loop: resume after failures. member. */
    RESUME,
    /** To the caller's loop: call, handledMicros, tunnel (the member's), body. */
    REPLY,
    /** To the caller's loop: call, code, executed, retryAfterMillis, body. */
    FAILURE,
    /** To the caller's loop: call, returned. */
    RETURN,
    /** To a waiting loop: a place of the member, acquired for it. */
    PLACE,
    /** To all: the last member has gone. service. */
    UNSERVED,
    /** To all: calls for this member only can go nowhere. member. */
    MEMBER_GONE,
    /** To the other end's loop: tunnel (its end), number, last, body. */
    TUNNEL_DATA,
    /** To the other end's loop: tunnel (its end), number, received. */
    TUNNEL_CREDIT,
    /** To the other end's loop: tunnel (its end), ending. */
    TUNNEL_END
  }

  Kind kind = Kind.INVOKE;
  @Nullable Call call;
  @Nullable ServiceMember member;
  @Nullable LocalService service;
  @Nullable Delivery body;
  @Nullable TunnelHalf tunnel;
  @Nullable TunnelEnding ending;
  long received;
  boolean last;
  ReturnReason returned = ReturnReason.LOST;
  FailureCode code = FailureCode.INTERNAL;
  Execution executed = Execution.UNKNOWN;
  String text = "";
  long number;
  long retryAfterMillis;
  int handledMicros;
  boolean timedOut;

  /** Clears references and releases the body. */
  void clear() {
    Delivery content = body;
    call = null;
    member = null;
    service = null;
    body = null;
    tunnel = null;
    ending = null;
    text = "";
    if (content != null) {
      content.release();
    }
  }

  Call call() {
    return there(call);
  }

  ServiceMember member() {
    return there(member);
  }

  LocalService service() {
    return there(service);
  }

  TunnelHalf tunnel() {
    return there(tunnel);
  }

  TunnelEnding ending() {
    return there(ending);
  }

  /** Returns the body; the receiver owns the reference. */
  Delivery takeBody() {
    Delivery content = body();
    body = null;
    return content;
  }

  Delivery body() {
    return there(body);
  }

  private <T> T there(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("note: " + kind + " (expected: one that has this)");
    }
    return value;
  }
}
