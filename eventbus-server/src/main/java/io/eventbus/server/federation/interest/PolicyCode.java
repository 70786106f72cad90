package io.eventbus.server.federation.interest;

import io.eventbus.schema.Overflow;

/** Codes of overflow policies between buses. Stateless. */
final class PolicyCode {
  static final int COUNT = 4;

  /** Code for no subscribers. */
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

  /**
   * Returns the policy of a code.
   *
   * @throws IllegalArgumentException if there is none
   */
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
