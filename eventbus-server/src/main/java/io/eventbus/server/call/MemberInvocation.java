package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.routing.Delivery;
import org.jspecify.annotations.Nullable;

/** A call on its way to a member. For the member's loop, while {@link MemberPort#invoke} runs. */
public interface MemberInvocation {
  /**
   * Returns the bus's number of the call: another one each time that a call is given to a member.
   *
   * @return negative
   */
  long call();

  /** Returns the registration that the call is for. */
  long registration();

  /**
   * Returns what is left of the caller's time.
   *
   * @return milliseconds, at least 1
   */
  int timeoutMillis();

  /** Returns who calls. */
  CallerInfo caller();

  /** Returns the caller's number of the call. */
  long request();

  /**
   * Returns how often the call was sent or given to a member before.
   *
   * @return {@link CallRequest#attempt} and the tries of the bus that a member may have executed
   */
  int attempt();

  /**
   * Returns how many calls of the service wait; for another bus.
   *
   * @return at least 0, perhaps a moment old
   */
  int waiting();

  /**
   * Returns the time by which the caller has its answer; for another bus.
   *
   * @return as {@link System#nanoTime}
   */
  long deadlineNanos();

  /** Returns how urgent it is; for another bus. */
  CallPriority urgency();

  /** Says whether it may be executed twice; for another bus. */
  boolean mayRepeat();

  /** Returns the only member that may have it; for another bus. */
  long onlyMember();

  /**
   * Says whether another bus that has no free place for it may send it back.
   *
   * @return false if it was sent back already
   */
  boolean mayComeBack();

  /** Returns when the bus received the request. */
  long receivedAt();

  /** Returns the fingerprint of the payload's schema. */
  long schema();

  /** Returns how many of the first bytes of the body are the method. */
  int methodLength();

  /**
   * Returns the caller's end of a stream or tunnel.
   *
   * @return from {@link CallRequest#tunnel}, null for one reply
   */
  default @Nullable TunnelHalf tunnel() {
    return null;
  }

  /** Returns method and event. */
  Delivery body();
}
