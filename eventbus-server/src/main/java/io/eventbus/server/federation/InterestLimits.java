package io.eventbus.server.federation;

import org.jspecify.annotations.Nullable;

/**
 * How many filters and services the other buses are told of, and how many of them one connection
 * and one address may bring: no few take everything, and one that wants little gets it while others
 * sit on all that they may have. What the others know already is not asked about. Immutable; any
 * thread. Several loops may pass a limit by one filter each.
 */
final class InterestLimits {
  /** Number of equal parts of the whole of which a connection may have one. */
  private static final int CONNECTION_PART = 8;

  /** Number that every connection may bring while there is anything left. */
  private static final int SMALL = 64;

  private static final String ADVICE = "; use fewer or wider filters, or another bus";

  private final int most;

  InterestLimits(int most) {
    this.most = most;
  }

  /**
   * Says which limit one more would pass.
   *
   * @param addressFull whether the client's address has its share
   * @return null for none; else what is wrong, for the client
   */
  @Nullable String problem(int all, int own, boolean addressFull) {
    if (all >= most) {
      return "the other buses are told of "
          + all
          + " filters and services of this bus's clients (expected: at most "
          + most
          + ", federation.filters)"
          + ADVICE;
    }
    int part = Math.max(SMALL, most / CONNECTION_PART);
    if (own >= part) {
      return "the connection has "
          + own
          + " subscriptions and services, of which other buses are told (expected: at most "
          + part
          + " together, an eighth of federation.filters)"
          + ADVICE;
    }
    if (all >= most / 2 && addressFull) {
      return "the connections from the client's address have all the subscriptions and services"
          + " that other buses may be told of while there are more than "
          + most / 2
          + " (expected: at most limits.address-memory-percent of federation.filters)"
          + ADVICE;
    }
    if (all >= most - most / 4 && own >= SMALL) {
      return "the connection has "
          + own
          + " subscriptions and services, of which other buses are told (expected: less than "
          + SMALL
          + " for one more while those of all are over three quarters of "
          + most
          + ", federation.filters)"
          + ADVICE;
    }
    return null;
  }
}
