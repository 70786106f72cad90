package io.eventbus.server.delivery;

import io.eventbus.schema.Overflow;

/** Subscriber in a route, with its policy there. */
public record RouteTarget(Subscriber subscriber, Overflow overflow) {
  /** Bound on the events of one frame that CONFLATE looks at. */
  private static final int MAX_CONFLATED = 1024;

  /**
   * Returns about the cost of giving events to this subscriber when it is behind, in units of that
   * of one that is not; at least 1.
   */
  public int work(int events) {
    return switch (overflow) {
      case CONFLATE -> 1 + 16 * Math.min(events, MAX_CONFLATED);
      // Dropped events are read once more, to tell which they were.
      case DROP_OLDEST -> subscriber.isCrowded() ? 4 : 1;
      case BLOCK, DISCONNECT -> 1;
    };
  }

  /** Returns the rank of a policy, from the weakest promise to the strictest. */
  private static int strictness(Overflow overflow) {
    return switch (overflow) {
      case DROP_OLDEST -> 0;
      case CONFLATE -> 1;
      case DISCONNECT -> 2;
      case BLOCK -> 3;
    };
  }

  /** Returns the stricter of two promises. */
  public static Overflow stricter(Overflow a, Overflow b) {
    return strictness(a) >= strictness(b) ? a : b;
  }
}
