package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import org.jspecify.annotations.Nullable;

/** Call on its way to a member. Valid on the member's loop while {@link MemberPort#invoke} runs. */
public interface MemberInvocation {
  /**
   * Returns the bus's number of the call, which is negative: another one each time that a call is
   * given to a member.
   */
  long call();

  /** Returns the registration that the call is for. */
  long registration();

  /** Returns the rest of the caller's timeout in milliseconds, at least 1. */
  int timeoutMillis();

  /** Returns the caller's description. */
  CallerInfo caller();

  /** Returns the caller's number of the call. */
  long request();

  /**
   * Returns how often the call was sent or given to a member before: {@link CallRequest#attempt},
   * and dispatches of the bus that a member may have executed.
   */
  int attempt();

  /** Returns how many calls of the service wait, perhaps a moment old; for a peer. */
  int waiting();

  /** Returns the caller's deadline, by the clock of {@link System#nanoTime}; for a peer. */
  long deadlineNanos();

  /** Returns the priority; for a peer. */
  CallPriority priority();

  /** Returns whether it may be executed twice; for a peer. */
  boolean isIdempotent();

  /** Returns the only member that may have it; for a peer. */
  long onlyMember();

  /**
   * Returns whether a peer that has no free place for it may send it back; false if it was sent
   * back already.
   */
  boolean isReturnable();

  /** Returns when the bus received the request. */
  long receivedAt();

  /** Returns the fingerprint of the payload's schema. */
  long schema();

  /** Returns the length of the method, which the body starts with, in bytes. */
  int methodLength();

  /**
   * Returns the caller's end of a stream or tunnel, from {@link CallRequest#tunnel}; null for a
   * single reply.
   */
  default @Nullable TunnelHalf tunnel() {
    return null;
  }

  /** Returns method and event. */
  Delivery body();
}
