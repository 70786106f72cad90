package io.eventbus.simulation;

import java.util.List;
import java.util.SplittableRandom;

/** Thirty minutes of buses that have more to do than they like: whether clients come to rest. */
final class HalfAnHour {
  private static final int MINUTES = 30;
  private static final long MINUTE = 60 * Simulator.SECOND;
  private static final long LOOK = Simulator.SECOND;

  /** The load changes in the first minutes and then stays, so that it shows who comes to rest. */
  private static final int CHANGING_MINUTES = 20;

  /** What there is to do. */
  enum Kind {
    /** Any load from nothing to half as much again as a bus can do, and it changes. */
    RANDOM,
    /** Two buses, both with too much to do. */
    TWO_OVERLOADED,
    /** Every bus has as much to do as it can, and some more. */
    ALL_FULL,
    /** One bus has too much to do, and the others are just below the mark to which they take. */
    NEARLY_FULL
  }

  /**
   * What came of it.
   *
   * @param kind what there was to do
   * @param buses how many
   * @param clients how many
   * @param mean what is asked of a bus on the average in the end
   * @param moves all of them
   * @param later moves in the last five minutes
   * @param twice moves of clients that had moved less than a minute before
   * @param cameBack clients that came back to a bus that they had been moved away from
   * @param mostMoves the most moves of one client
   * @param turns how often a bus became overloaded
   * @param highest in the end, the most that is asked of a bus
   * @param fingerprint depends on everything that has happened
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
      int mostMoves,
      long turns,
      double highest,
      long fingerprint) {

    /** What is not as it should be. */
    List<String> missed() {
      Targets targets = new Targets();
      targets.none("later", later);
      targets.none("twice", twice);
      targets.none("cameBack", cameBack);
      targets.within("mostMoves", mostMoves, 2);
      if (kind == Kind.TWO_OVERLOADED || kind == Kind.ALL_FULL) {
        targets.none("moves", moves);
      }
      return targets.missed();
    }
  }

  private HalfAnHour() {}

  static Outcome run(long seed, int buses, Kind kind) {
    LoadedCluster cluster = new LoadedCluster(seed, buses);
    Simulator simulator = cluster.simulator();
    SplittableRandom random = simulator.random(6);
    for (int i = 0; i < buses; i++) {
      double load =
          switch (kind) {
            case RANDOM -> random.nextDouble() * 1.5;
            case TWO_OVERLOADED -> 0.9 + random.nextDouble();
            case ALL_FULL -> 0.9 + random.nextDouble() * 0.3;
            case NEARLY_FULL -> i == 0 ? 1.2 : 0.68;
          };
      cluster.connect(i, 1 + random.nextInt(60), load);
    }
    cluster.start();
    long turns = 0;
    long before = 0;
    boolean[] overloaded = new boolean[buses];
    for (int minute = 0; minute < MINUTES; minute++) {
      if (minute == MINUTES - 5) {
        before = cluster.moves();
      }
      for (long end = simulator.now() + MINUTE; simulator.now() < end; ) {
        simulator.run(LOOK);
        for (LoadedBus bus : cluster.buses()) {
          if (bus.isOverloaded() && !overloaded[bus.number()]) {
            turns++;
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
        cluster.mostMoves(),
        turns,
        cluster.highest(),
        cluster.fingerprint());
  }
}
