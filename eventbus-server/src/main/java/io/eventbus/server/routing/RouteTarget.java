package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;

/** A subscriber in a route, with the policy that holds for it there. */
public record RouteTarget(Subscriber subscriber, Overflow overflow) {
  /** Of one frame CONFLATE looks at no more events than about so many. */
  private static final int MAX_CONFLATED = 1024;

  /**
   * About what it costs to give events to this subscriber when it is behind, in units of what it
   * costs to give them to one that is not.
   *
   * @return at least 1
   */
  int work(int events) {
    return switch (overflow) {
      case CONFLATE -> 1 + 16 * Math.min(events, MAX_CONFLATED);
      // What is dropped is read once more, to tell which events those were.
      case DROP_OLDEST -> subscriber.isCrowded() ? 4 : 1;
      case BLOCK, DISCONNECT -> 1;
    };
  }

  /** From the weakest promise to the strictest. */
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
