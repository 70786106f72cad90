package io.eventbus.loadtest.attack;

import io.eventbus.loadtest.attack.wire.WireCounts;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/** Counts what one attack does and sees. Any thread. */
public final class AttackTally {
  private final WireCounts wires = new WireCounts();
  private final Map<String, LongAdder> figures = new ConcurrentHashMap<>();
  private final List<Check> checks = new CopyOnWriteArrayList<>();

  /** Makes one of zeros. */
  public AttackTally() {}

  /**
   * Returns the counts of all connections.
   *
   * @return for {@link io.eventbus.loadtest.attack.wire.Wires}
   */
  public WireCounts wires() {
    return wires;
  }

  /**
   * Counts.
   *
   * @param name of the figure
   * @param more how many
   */
  public void add(String name, long more) {
    figures.computeIfAbsent(name, n -> new LongAdder()).add(more);
  }

  /**
   * Returns a figure.
   *
   * @param name of the figure
   * @return what it has come to
   */
  public long get(String name) {
    LongAdder figure = figures.get(name);
    return figure == null ? 0 : figure.sum();
  }

  /**
   * Notes whether something was as expected.
   *
   * @param what in a few words
   * @param held whether it was so
   * @param found what was seen
   */
  public void check(String what, boolean held, String found) {
    checks.add(new Check(what, held, found));
  }

  /**
   * Returns everything so far.
   *
   * @param error what ended the attack early, empty for nothing
   * @return a copy
   */
  public Observed observed(String error) {
    Map<String, Long> all = new TreeMap<>(wires.figures());
    figures.forEach((name, count) -> all.put(name, count.sum()));
    return new Observed(all, wires.closes(), checks, error);
  }
}
