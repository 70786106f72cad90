package io.eventbus.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Outcomes of calls with their latencies. Any thread. */
public final class CallTally {
  private final Map<String, BenchLatencies> outcomes = new TreeMap<>();

  /** Outcome with its calls. */
  public record Outcome(String name, LatencyFigures figures) {}

  /**
   * Adds a call that has ended.
   *
   * @param due when it was due, as {@link System#nanoTime}
   */
  public void add(String outcome, long due, long now) {
    BenchLatencies latencies;
    synchronized (this) {
      latencies =
          outcomes.computeIfAbsent(
              outcome,
              name -> {
                BenchLatencies all = new BenchLatencies();
                all.measureAll();
                return all;
              });
    }
    latencies.record(due, now);
  }

  /** Returns what has been counted, and forgets it. */
  public synchronized List<Outcome> take() {
    List<Outcome> taken = new ArrayList<>();
    outcomes.forEach((name, latencies) -> taken.add(new Outcome(name, latencies.take())));
    outcomes.clear();
    return taken;
  }
}
