package io.eventbus.loadtest.coordination.run;

import java.util.Locale;

/** One line on a phase, for whoever watches. */
final class PhaseLine {
  private PhaseLine() {}

  static String of(PhaseResult r) {
    return String.format(
        Locale.ROOT,
        "%-12s %-9s %d servers, %3d x %2d clients, round %d: %,8.0f/s, mean %7.3f ms, p99 %7.2f ms,"
            + " longest gap %d ms%s%s%s",
        r.experiment(),
        r.system(),
        r.servers(),
        r.clients(),
        r.inFlight(),
        r.round(),
        r.perSecond(),
        r.meanMillis(),
        r.latency().p99() / 1_000,
        r.longestGapMillis(),
        r.leaderChanges() <= 0 ? "" : ", leader changes: " + r.leaderChanges(),
        r.late() == 0 ? "" : ", late: " + r.late(),
        r.errors().isEmpty() ? "" : ", errors: " + r.errors());
  }
}
