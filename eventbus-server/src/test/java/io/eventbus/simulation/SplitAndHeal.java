package io.eventbus.simulation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * Buses that are cut into two sides and joined again while clients come and go: how long each side
 * takes to know its members, and how long the whole takes afterwards (XtreemOS D3.2.12: 300 and 100
 * nodes).
 */
final class SplitAndHeal {
  private static final long LOOK = 50 * Simulator.MILLI;
  private static final long CHANGE_EVERY = 20 * Simulator.MILLI;
  private static final long MAX_NANOS = 60 * Simulator.SECOND;

  /**
   * Outcome of the run; times in virtual milliseconds, -1 for not within a minute.
   *
   * @param started from the start of the first bus until every bus knows all
   * @param largeKnows from the cut until every bus of the larger side has lanes to all of its side
   *     and to nobody else, and routes to all of its side
   * @param largeAlone until nothing is routed to the other side any more, either
   * @param registry until the registry of the side that may change it says so, too
   * @param refused changes that the registry took while it was cut, on the side that may not
   * @param whole from the mending until every bus knows all
   * @param registryWhole until every bus's copy of the registry says that all are UP
   * @param mismatches digests that did not add up
   * @param leaked bytes that the buses did not release when they ended
   */
  record Outcome(
      int buses,
      int small,
      long started,
      long largeKnows,
      long smallKnows,
      long largeAlone,
      long smallAlone,
      long registry,
      long refused,
      long whole,
      long registryWhole,
      long mismatches,
      long leaked,
      long fingerprint) {

    private static final long SECONDS_5 = 5_000;

    /** Returns the deviations from the expected. */
    List<String> missed() {
      Targets targets = new Targets();
      targets.within("started", started, SECONDS_5);
      targets.within("largeKnows", largeKnows, SECONDS_5);
      targets.within("smallKnows", smallKnows, SECONDS_5);
      // Until a bus is given up, events are kept for it.
      targets.within("largeAlone", largeAlone, 15_000);
      targets.within("smallAlone", smallAlone, 15_000);
      // A lease, and what passes until it is looked at.
      targets.within("registry", registry, 12_000);
      targets.none("refused", refused);
      targets.within("whole", whole, SECONDS_5);
      targets.within("registryWhole", registryWhole, 10_000);
      targets.none("mismatches", mismatches);
      targets.none("leaked", leaked);
      return targets.missed();
    }
  }

  private final SimulatedCluster cluster;
  private final Simulator simulator;
  private final int small;
  private final SplittableRandom random;
  private boolean changing = true;

  private SplitAndHeal(long seed, int buses, int small) {
    this.cluster = new SimulatedCluster(seed, buses, SimulatedCluster.defaults());
    this.simulator = cluster.simulator;
    this.small = small;
    this.random = simulator.random(3);
  }

  static Outcome run(long seed, int buses, int small, long cutNanos) {
    return run(seed, buses, small, cutNanos, Progress.NONE);
  }

  static Outcome run(long seed, int buses, int small, long cutNanos, Progress progress) {
    SplitAndHeal it = new SplitAndHeal(seed, buses, small);
    it.simulator.tell(progress);
    return it.run(cutNanos);
  }

  private Outcome run(long cutNanos) {
    cluster.start();
    long started =
        simulator.runUntil(
            () -> cluster.isStarted() && cluster.knowsOnlyWhoIsThere(0), LOOK, MAX_NANOS);
    simulator.run(2 * Simulator.SECOND);
    change();

    cluster.cut(sides(simulator.random(4).nextLong()));
    int voting = cluster.side(cluster.consensus.leader());
    long cutAt = simulator.now();
    Times large = new Times();
    Times little = new Times();
    long registry = -1;
    while (simulator.now() - cutAt < cutNanos) {
      simulator.run(LOOK);
      large.look(cutAt, 0);
      little.look(cutAt, 1);
      voting = cluster.side(cluster.consensus.leader());
      if (registry < 0 && cluster.registryKnows(voting)) {
        registry = simulator.now() - cutAt;
      }
    }
    changing = false;
    simulator.run(2 * LOOK);
    long refused = tookChanges(1 - voting);

    cluster.heal();
    long healedAt = simulator.now();
    long whole = -1;
    long registryWhole = -1;
    while ((whole < 0 || registryWhole < 0) && simulator.now() - healedAt < MAX_NANOS) {
      simulator.run(LOOK);
      long passed = simulator.now() - healedAt;
      if (whole < 0 && cluster.knowsOnlyWhoIsThere(0)) {
        whole = passed;
      }
      if (registryWhole < 0 && cluster.registryKnows(0)) {
        registryWhole = passed;
      }
    }
    long mismatches =
        cluster.buses.stream().mapToLong(bus -> bus.federation.figures().mismatches()).sum();
    return new Outcome(
        cluster.buses.size(),
        small,
        millis(started),
        millis(large.knows),
        millis(little.knows),
        millis(large.alone),
        millis(little.alone),
        millis(registry),
        refused,
        millis(whole),
        millis(registryWhole),
        mismatches,
        cluster.end(),
        cluster.fingerprint());
  }

  private static long millis(long nanos) {
    return nanos < 0 ? -1 : nanos / Simulator.MILLI;
  }

  /** Returns the side of each bus: 1 is the smaller. */
  private int[] sides(long seed) {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < cluster.buses.size(); i++) {
      order.add(i);
    }
    Collections.shuffle(order, new Random(seed));
    int[] sides = new int[order.size()];
    order.subList(0, small).forEach(bus -> sides[bus] = 1);
    return sides;
  }

  /** Changes clients all the time, on both sides. */
  private void change() {
    if (!changing) {
      return;
    }
    int bus = random.nextInt(cluster.buses.size());
    String topic = "changing." + random.nextInt(30);
    if (cluster.wants(bus, topic)) {
      cluster.unwant(bus, topic);
    } else {
      cluster.want(bus, topic, topic);
    }
    simulator.after(CHANGE_EVERY, this::change);
  }

  /** Returns how many changes since the cut buses of a side have heard of. */
  private long tookChanges(int side) {
    return cluster.buses.stream()
        .filter(bus -> cluster.side(bus.number()) == side)
        .filter(bus -> bus.registry.snapshot().version() >= cluster.consensus.committed().version())
        .count();
  }

  /** Times at which a side came to know, after the last time that it did not. */
  private final class Times {
    long knows = -1;
    long alone = -1;

    void look(long since, int side) {
      if (knows < 0 && cluster.knowsWhoIsThere(side)) {
        knows = simulator.now() - since;
      }
      if (knows >= 0 && alone < 0 && cluster.knowsOnlyWhoIsThere(side)) {
        alone = simulator.now() - since;
      }
    }
  }
}
