package io.eventbus.server.call.dispatch;

import io.eventbus.schema.CallPriority;

/**
 * Call as its dispatch sees it. Confined to the loop of its caller.
 *
 * <p>Methods that end the call or give it to a member may call the dispatcher from within.
 */
public interface QueuedCall {
  /** Returns the place in a queue, always the same. */
  QueuePlace queuePlace();

  /** Returns the fairness group of its caller. */
  FairnessGroup group();

  /** Returns the priority among waiting calls. */
  CallPriority priority();

  /** Returns the bytes that it counts for in byte bounds. */
  int bytes();

  /** Returns the only member that may have it; 0 for any. */
  long pinned();

  /** Returns whether only local members may have it. */
  boolean isLocalOnly();

  /** Returns whether it comes from a peer, which bounds its calls itself. */
  boolean isFromPeer();

  /** Returns whether it goes back to the peer if it finds no place soon. */
  boolean returnsToPeer();

  /** Returns whether there are members that may have it. */
  boolean isServed();

  /** Returns whether its caller has gone. */
  boolean isAbandoned();

  /** Returns whether a member or peer has refused it. */
  boolean hasRefused(CandidateMember member);

  /** Returns the start of the call in nanoseconds. */
  long begunNanos();

  /** Returns the deadline of its caller in nanoseconds. */
  long deadlineNanos();

  /** Returns the maximum wait for a member to appear, in nanoseconds; 0 for none. */
  long waitNanos();

  /** Returns the start of the wait in nanoseconds; time in which it was dispatched counts. */
  long queuedNanos();

  /** Sets the deadline for a member or place; it takes effect with {@link #armDeadline}. */
  void memberDeadline(long atNanos);

  /** Arms the timer with the earlier of the caller's deadline and that for a member. */
  void armDeadline(long nowNanos);

  /** Returns the service as the loop knew it when it was looked up last. */
  QueuedService service();

  /** Looks the service up again, and returns it. */
  QueuedService currentService(long nowNanos);

  /** Charges the caller for a service that is known only because this call waits for it. */
  void chargeService();

  /** Called when it is added to a queue. */
  void waits();

  /** Called when it leaves its queue. */
  void waitsNoLonger();

  /** Called when it has left its queue and is dispatched again. */
  void ready();

  /** Gives it to a member, of whose window a place was acquired. */
  void dispatchTo(CandidateMember member, long nowNanos);

  /** Fails it because no member that may have it serves. */
  void failUnserved(long nowNanos);

  /**
   * Fails it because too much waits.
   *
   * @param retryAfterMillis milliseconds after which a retry may succeed, 0 for no advice
   */
  void failOverloaded(long retryAfterMillis, String reason, long nowNanos);

  /** Cancels it because its caller has gone. */
  void cancelAbandoned(long nowNanos);
}
