package io.eventbus.loadtest.attack.honest;

import java.util.ArrayList;
import java.util.List;

/**
 * Outcome of the events of honest pairs.
 *
 * @param reordered came after a later one
 */
public record PairOutcome(
    long sent,
    long confirmed,
    long received,
    long lost,
    long doubled,
    long reordered,
    long foreign,
    List<String> closed) {
  static final PairOutcome NOTHING = new PairOutcome(0, 0, 0, 0, 0, 0, 0, List.of());

  /** Takes a copy. */
  public PairOutcome {
    closed = List.copyOf(closed);
  }

  PairOutcome plus(PairOutcome other) {
    List<String> all = new ArrayList<>(closed);
    all.addAll(other.closed);
    return new PairOutcome(
        sent + other.sent,
        confirmed + other.confirmed,
        received + other.received,
        lost + other.lost,
        doubled + other.doubled,
        reordered + other.reordered,
        foreign + other.foreign,
        all);
  }
}
