package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;

/**
 * A subscriber in a route, with the policy that holds for it there.
 *
 * @param subscriber who gets the events
 * @param overflow of several subscriptions that match, the strictest promise
 */
public record Target(Subscriber subscriber, Overflow overflow) {
  /** From the weakest promise to the strictest. */
  private static int strictness(Overflow overflow) {
    return switch (overflow) {
      case DROP_OLDEST -> 0;
      case CONFLATE -> 1;
      case DISCONNECT -> 2;
      case BLOCK -> 3;
    };
  }

  /**
   * Returns the stricter of two promises.
   *
   * @param a one
   * @param b another
   * @return one of them
   */
  public static Overflow stricter(Overflow a, Overflow b) {
    return strictness(a) >= strictness(b) ? a : b;
  }
}
