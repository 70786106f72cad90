package io.eventbus.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Compares what came of an experiment with what is wanted. */
final class Targets {
  private final List<String> missed = new ArrayList<>();

  /** Checks a time of at most so much; -1 is one that did not come. */
  void within(String what, long value, long max) {
    if (value < 0 || value > max) {
      missed.add(String.format(Locale.ROOT, "%s: %d (expected: 0 to %d)", what, value, max));
    }
  }

  void none(String what, long value) {
    within(what, value, 0);
  }

  List<String> missed() {
    return missed;
  }
}
