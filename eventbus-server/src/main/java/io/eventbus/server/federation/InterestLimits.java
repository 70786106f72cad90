package io.eventbus.server.federation;

import org.jspecify.annotations.Nullable;

/**
 * Limits for the interest that peers are told of, for the whole bus, a connection and an address:
 * no few of them can use up everything, and a connection that needs little gets it although others
 * use all that they may. Interest that peers know already is not limited. Immutable; any thread.
 * Several loops may exceed a limit by one filter each.
 */
final class InterestLimits {
  /** Divisor of the whole for the part of one connection. */
  private static final int CONNECTION_PART = 8;

  /** Filters that every connection may have while any are left. */
  private static final int MIN_FILTERS = 64;

  private static final String ADVICE = "; use fewer or wider filters, or another bus";

  private final int max;

  InterestLimits(int max) {
    this.max = max;
  }

  /**
   * Checks whether one more filter is within the limits.
   *
   * @param addressFull whether the client's address has used up its share
   * @return null if so; else the reason for the client
   */
  @Nullable String problem(int all, int own, boolean addressFull) {
    if (all >= max) {
      return "the other buses are told of "
          + all
          + " filters and services of this bus's clients (expected: at most "
          + max
          + ", federation.filters)"
          + ADVICE;
    }
    int part = Math.max(MIN_FILTERS, max / CONNECTION_PART);
    if (own >= part) {
      return "the connection has "
          + own
          + " subscriptions and services, of which other buses are told (expected: at most "
          + part
          + " together, an eighth of federation.filters)"
          + ADVICE;
    }
    if (all >= max / 2 && addressFull) {
      return "the connections from the client's address have all the subscriptions and services"
          + " that other buses may be told of while there are more than "
          + max / 2
          + " (expected: at most limits.address-memory-percent of federation.filters)"
          + ADVICE;
    }
    if (all >= max - max / 4 && own >= MIN_FILTERS) {
      return "the connection has "
          + own
          + " subscriptions and services, of which other buses are told (expected: less than "
          + MIN_FILTERS
          + " for one more while those of all are over three quarters of "
          + max
          + ", federation.filters)"
          + ADVICE;
    }
    return null;
  }
}
