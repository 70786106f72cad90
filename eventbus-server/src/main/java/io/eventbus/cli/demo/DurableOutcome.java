package io.eventbus.cli.demo;

import io.eventbus.cli.demo.DemoTally.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Outcome of the demo of durable topics.
 *
 * @param verdicts those on all readers
 * @param differences for each bus the events that its log does not have at the position that their
 *     publishers were told, or that the first bus has
 * @param untold events whose position their publishers were not told: events that they sent again
 */
record DurableOutcome(List<Verdict> verdicts, Map<String, Integer> differences, int untold) {
  /** Returns the deviations from the expected, for people; empty for none. */
  List<String> wrong() {
    List<String> wrong = new ArrayList<>(Verdict.deviations(verdicts));
    differences.forEach(
        (bus, events) -> {
          if (events > 0) {
            wrong.add(
                "the log of %s has %d events at other positions (expected: those that their publishers were told, and the same at all buses)"
                    .formatted(bus, events));
          }
        });
    return wrong;
  }

  /** Returns what holds if nothing is wrong, for people. */
  String summary() {
    String told =
        untold == 0
            ? ""
            : ", but %,d of which they were not told, as they sent them again".formatted(untold);
    return "Every reader got exactly the events that the data says, in order. All buses have the same"
        + " log, at the positions that the publishers were told"
        + told
        + ".";
  }
}
