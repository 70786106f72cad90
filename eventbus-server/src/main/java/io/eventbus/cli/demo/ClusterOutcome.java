package io.eventbus.cli.demo;

import io.eventbus.cli.demo.DemoTally.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Outcome of the demo of several buses.
 *
 * @param empty whether it ended without clients
 */
record ClusterOutcome(
    List<Verdict> verdicts,
    String loaded,
    double highestLoad,
    int byOverload,
    String drained,
    boolean empty) {
  /** Returns whether every subscriber got exactly the expected events. */
  boolean whole() {
    return verdicts.stream().allMatch(Verdict::good);
  }

  /** Returns the deviations from the expected, for people; empty for none. */
  List<String> wrong() {
    List<String> wrong = new ArrayList<>(Verdict.deviations(verdicts));
    if (byOverload == 0) {
      wrong.add(
          "no client was moved because of overload: the load of %s was up to %.0f %% (expected: more than %d %%)"
              .formatted(loaded, highestLoad * 100, DemoCluster.HIGH_PERCENT));
    }
    if (!empty) {
      wrong.add("%s was drained and still had clients".formatted(drained));
    }
    return wrong;
  }

  /** Returns what the clients saw of the moves. */
  List<String> summary(DemoMoves moves) {
    DemoMoves.Pauses pauses = moves.pauses();
    return List.of(
        "",
        "%d clients moved because of overload, %d in all; %d stayed, %d connections were cut"
            .formatted(byOverload, moves.moved(), moves.stayed(), moves.cut()),
        String.format(
            Locale.ROOT,
            "pauses seen by subscribers (longest way of an event around %d changes of bus):"
                + " p50 %.1f ms, p99 %.1f ms, longest %.1f ms",
            pauses.count(),
            millis(pauses.p50()),
            millis(pauses.p99()),
            millis(pauses.max())));
  }

  private static double millis(Duration duration) {
    return duration.toNanos() / 1e6;
  }
}
