package io.eventbus.server.call;

/** Failure messages for callers and members. */
final class FailureMessages {
  static final String NO_MEMBER =
      "no member serves it (expected: at least one, with a concurrency above 0)";
  static final String NO_MEMBER_HERE =
      "only members at other buses serve it, which a request to all does not reach"
          + " (expected: at least one at the caller's bus)";
  static final String NOT_THIS_MEMBER =
      "the requested member does not serve it (expected: one that does, or 0 for any)";
  static final String EXPIRED = "the caller's time was over before a member was free";
  static final String TIMED_OUT = "the member has not answered in the caller's time";
  static final String CANCELLED = "the caller has cancelled it";
  static final String MEMBER_LOST = "the connection of the member ended before it answered";
  static final String MEMBER_LEFT = "the member left before it had the request";
  static final String BUS_LOST = "the bus of the member was lost before it answered";
  static final String MEMORY = "the bus is short of memory";
  static final String NO_ROOM_TO_WAIT =
      "no member serves it, and no memory is left for further calls that wait for a service"
          + " (expected: less than half of what may be held)";
  static final String TIME_IS_OVER = "the caller's time is over";
  static final String CALLER_GONE = "the caller has gone";

  private FailureMessages() {}
}
