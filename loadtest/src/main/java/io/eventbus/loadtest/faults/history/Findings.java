package io.eventbus.loadtest.faults.history;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Collector of violations: a few of each rule for people, and how many there are. */
final class Findings {
  /** A fault breaks a rule for thousands of events, and the first ones explain it. */
  static final int SHOWN = 10;

  private final Map<HistoryRule, Long> counts = new EnumMap<>(HistoryRule.class);
  private final List<String> texts = new ArrayList<>();

  void add(HistoryRule rule, String text) {
    if (counts.merge(rule, 1L, Long::sum) <= SHOWN) {
      texts.add(rule + ": " + text);
    }
  }

  HistoryVerdict verdict() {
    return new HistoryVerdict(counts, texts);
  }
}
