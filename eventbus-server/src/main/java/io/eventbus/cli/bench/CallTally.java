package io.eventbus.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How many calls ended how, and how long they took. Any thread. */
public final class CallTally {
  private final Map<String, BenchLatencies> outcomes = new TreeMap<>();

  /**
   * One outcome.
   *
   * @param name what it is called
   * @param figures how many ended so, and how long they took
   */
  public record Outcome(String name, LatencyFigures figures) {}

  /**
   * A call has ended.
   *
   * @param outcome how
   * @param due when it was due, as {@link System#nanoTime} counts
   * @param now when it ended
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

  /**
   * Returns what has been counted, and forgets it.
   *
   * @return by name
   */
  public synchronized List<Outcome> take() {
    List<Outcome> taken = new ArrayList<>();
    outcomes.forEach((name, latencies) -> taken.add(new Outcome(name, latencies.take())));
    outcomes.clear();
    return taken;
  }
}
