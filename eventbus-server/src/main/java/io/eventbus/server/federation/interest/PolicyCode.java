package io.eventbus.server.federation.interest;

import io.eventbus.schema.Overflow;

/** The numbers by which buses tell each other the policies of subscribers. Stateless. */
final class PolicyCode {
  static final int COUNT = 4;

  /** There are no subscribers. */
  static final int NONE = -1;

  private PolicyCode() {}

  static int of(Overflow overflow) {
    return switch (overflow) {
      case BLOCK -> 0;
      case DROP_OLDEST -> 1;
      case CONFLATE -> 2;
      case DISCONNECT -> 3;
    };
  }

  /** Throws for a number that is none. */
  static Overflow overflow(int code) {
    return switch (code) {
      case 0 -> Overflow.BLOCK;
      case 1 -> Overflow.DROP_OLDEST;
      case 2 -> Overflow.CONFLATE;
      case 3 -> Overflow.DISCONNECT;
      default ->
          throw new IllegalArgumentException(
              "policy: " + code + " (expected: 0.." + (COUNT - 1) + ")");
    };
  }
}
