package io.eventbus.loadtest.attack.honest;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Outcome of the calls of honest callers.
 *
 * @param lost have not ended at all
 * @param doubled were executed, or answered, a second time
 */
public record CallOutcome(
    long called,
    long answered,
    long lost,
    long doubled,
    Map<String, Long> failed,
    List<String> closed) {
  /** No calls at all. */
  public static final CallOutcome NOTHING = new CallOutcome(0, 0, 0, 0, Map.of(), List.of());

  /** Takes copies. */
  public CallOutcome {
    failed = Map.copyOf(failed);
    closed = List.copyOf(closed);
  }

  /** Counts those that ended without an answer. */
  public long refused() {
    return failed.values().stream().mapToLong(Long::longValue).sum();
  }

  CallOutcome plus(CallOutcome other) {
    Map<String, Long> both = new TreeMap<>(failed);
    other.failed.forEach((code, count) -> both.merge(code, count, Long::sum));
    List<String> all = new ArrayList<>(closed);
    all.addAll(other.closed);
    return new CallOutcome(
        called + other.called,
        answered + other.answered,
        lost + other.lost,
        doubled + other.doubled,
        both,
        all);
  }
}
