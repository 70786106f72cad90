package io.eventbus.simulation;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** Thirty minutes of overloaded buses: whether clients come to rest. */
final class HalfAnHour {
  private static final int MINUTES = 30;
  private static final long MINUTE = 60 * Simulator.SECOND;
  private static final long LOOK = Simulator.SECOND;

  /**
   * Minutes of changing load, which stays afterwards, so that it shows whether clients come to
   * rest.
   */
  private static final int CHANGING_MINUTES = 20;

  /** Average demand on a bus with surges. */
  private static final double MEAN = 0.5;

  private static final double SURGE = 0.95;
  private static final int SURGE_EVERY = 5;

  /** Kind of load. */
  enum Kind {
    /** Any load from nothing to half as much again as a bus can serve, and it changes. */
    RANDOM,
    /** Two buses, both overloaded. */
    TWO_OVERLOADED,
    /** Every bus has as much demand as it can serve, and more. */
    ALL_FULL,
    /** An overloaded bus, and others just below the mark to which they take. */
    NEARLY_FULL,
    /** All buses but one are overloaded, and that one has room for little of it. */
    ONE_HAS_ROOM,
    /** Every five seconds the clients of a bus demand much, and those of all others less. */
    SURGES
  }

  /**
   * Outcome of the run.
   *
   * @param twice moves of clients that had moved less than a minute before
   * @param harmed how many buses became overloaded that were not at the start
   */
  record Outcome(
      Kind kind,
      int buses,
      int clients,
      double mean,
      long moves,
      long later,
      long twice,
      long cameBack,
      int maxMoves,
      long turns,
      long harmed,
      double highest,
      long fingerprint) {

    /** Returns the deviations from the expected. */
    List<String> missed() {
      Targets targets = new Targets();
      targets.none("later", later);
      targets.none("twice", twice);
      if (kind != Kind.RANDOM && kind != Kind.SURGES) {
        // With a load that changes all the time, a client may have to move more often.
        targets.none("cameBack", cameBack);
        targets.within("mostMoves", maxMoves, 2);
      }
      if (kind == Kind.TWO_OVERLOADED || kind == Kind.ALL_FULL) {
        targets.none("moves", moves);
      }
      if (kind == Kind.NEARLY_FULL || kind == Kind.ONE_HAS_ROOM) {
        targets.none("harmed", harmed);
      }
      return targets.missed();
    }
  }

  private HalfAnHour() {}

  static Outcome run(long seed, int buses, Kind kind) {
    return run(seed, buses, kind, Progress.NONE);
  }

  static Outcome run(long seed, int buses, Kind kind, Progress progress) {
    LoadedCluster cluster = new LoadedCluster(seed, buses);
    Simulator simulator = cluster.simulator();
    simulator.tell(progress);
    SplittableRandom random = simulator.random(6);
    boolean[] busy = new boolean[buses];
    for (int i = 0; i < buses; i++) {
      double load =
          switch (kind) {
            case RANDOM -> random.nextDouble() * 1.5;
            case TWO_OVERLOADED -> 0.9 + random.nextDouble();
            case ALL_FULL -> 0.9 + random.nextDouble() * 0.3;
            case NEARLY_FULL -> i == 0 ? 1.2 : 0.68;
            case ONE_HAS_ROOM -> i == 0 ? 0.3 : 0.95;
            case SURGES -> MEAN;
          };
      cluster.connect(i, 1 + random.nextInt(60), load);
      busy[i] = load > cluster.high();
    }
    cluster.start();
    long turns = 0;
    long looks = 0;
    long before = 0;
    boolean[] overloaded = new boolean[buses];
    Set<Integer> harmed = new HashSet<>();
    for (int minute = 0; minute < MINUTES; minute++) {
      if (minute == MINUTES - 5) {
        before = cluster.moves();
      }
      for (long end = simulator.now() + MINUTE; simulator.now() < end; ) {
        simulator.run(LOOK);
        if (kind == Kind.SURGES && minute < CHANGING_MINUTES && ++looks % SURGE_EVERY == 0) {
          surge(cluster, random.nextInt(buses));
        }
        for (LoadedBus bus : cluster.buses()) {
          if (bus.isOverloaded() && !overloaded[bus.number()]) {
            turns++;
            if (!busy[bus.number()]) {
              harmed.add(bus.number());
            }
          }
          overloaded[bus.number()] = bus.isOverloaded();
        }
      }
      if (kind == Kind.RANDOM && minute < CHANGING_MINUTES) {
        cluster.clients().forEach(c -> c.load(c.load() * (0.8 + 0.4 * random.nextDouble())));
      }
    }
    return new Outcome(
        kind,
        buses,
        cluster.clients().size(),
        cluster.buses().stream().mapToDouble(LoadedBus::asked).average().orElse(0),
        cluster.moves(),
        cluster.moves() - before,
        cluster.movedTwiceInAMinute(),
        cluster.cameBack(),
        cluster.maxMoves(),
        turns,
        harmed.size(),
        cluster.highest(),
        cluster.fingerprint());
  }

  /** Raises the demand on a bus to its capacity; all together demand as much as before. */
  private static void surge(LoadedCluster cluster, int bus) {
    double asked = cluster.bus(bus).asked();
    if (asked > 0) {
      cluster.clients().stream()
          .filter(c -> c.bus() == bus)
          .forEach(c -> c.load(c.load() * SURGE / asked));
    }
    double all = cluster.buses().stream().mapToDouble(LoadedBus::asked).sum();
    double wanted = MEAN * cluster.buses().size();
    cluster.clients().forEach(c -> c.load(c.load() * wanted / all));
  }
}
