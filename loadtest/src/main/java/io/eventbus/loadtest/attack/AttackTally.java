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

  /** Creates one of zeros. */
  public AttackTally() {}

  /** Returns the counts of all connections. */
  public WireCounts wires() {
    return wires;
  }

  /** Counts. */
  public void add(String name, long more) {
    figures.computeIfAbsent(name, n -> new LongAdder()).add(more);
  }

  /** Returns a figure. */
  public long get(String name) {
    LongAdder figure = figures.get(name);
    return figure == null ? 0 : figure.sum();
  }

  /** Notes whether something was as expected. */
  public void check(String what, boolean held, String found) {
    checks.add(new Check(what, held, found));
  }

  /**
   * Returns everything so far.
   *
   * @param error what ended the attack early, empty for nothing
   */
  public Observed observed(String error) {
    Map<String, Long> all = new TreeMap<>(wires.figures());
    figures.forEach((name, count) -> all.put(name, count.sum()));
    return new Observed(all, wires.closes(), checks, error);
  }
}
