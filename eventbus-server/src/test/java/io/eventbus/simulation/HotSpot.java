package io.eventbus.simulation;

import java.util.List;

/** Bus with nearly all clients of many buses: how its load spreads out. */
final class HotSpot {
  private static final long LOOK = 100 * Simulator.MILLI;
  private static final long MAX_NANOS = 2 * 60 * Simulator.SECOND;
  private static final long AFTERWARDS = 2 * 60 * Simulator.SECOND;

  /**
   * Outcome of the run; times in virtual milliseconds, -1 for not within two minutes.
   *
   * @param decided from the start until the bus decided that it is overloaded
   * @param hotBelow from the decision until the load that it sees is below the lower mark
   * @param calm from the decision until no bus is overloaded
   * @param allBelow from the decision until every bus sees a load below the lower mark; a bus
   *     between the marks is not overloaded, and moves nobody
   * @param moves clients moved until then
   * @param twice moves of clients that had moved less than a minute before
   */
  record Outcome(
      int buses,
      int clients,
      double asked,
      long decided,
      long hotBelow,
      long calm,
      long allBelow,
      long moves,
      long later,
      long twice,
      long cameBack,
      int maxMoves,
      double highestOther,
      double highest,
      long fingerprint) {

    /** Returns the deviations from the expected. */
    List<String> missed() {
      Targets targets = new Targets();
      targets.within("hotBelow", hotBelow, 10_000);
      targets.within("calm", calm, 60_000);
      // Overload would begin above it.
      targets.within("highestOther, %", Math.round(100 * highestOther), 85);
      targets.none("later", later);
      targets.none("twice", twice);
      targets.none("cameBack", cameBack);
      return targets.missed();
    }
  }

  private HotSpot() {}

  static Outcome run(long seed, int buses, int clients, double asked) {
    return run(seed, buses, clients, asked, Progress.NONE);
  }

  static Outcome run(long seed, int buses, int clients, double asked, Progress progress) {
    LoadedCluster cluster = new LoadedCluster(seed, buses);
    Simulator simulator = cluster.simulator();
    simulator.tell(progress);
    cluster.connect(0, clients, asked);
    for (int i = 1; i < buses; i++) {
      cluster.connect(i, 10, 0.3);
    }
    long begun = simulator.now();
    cluster.start();
    LoadedBus hot = cluster.bus(0);
    simulator.runUntil(hot::isOverloaded, LOOK, MAX_NANOS);
    long decided = simulator.now();
    double highestOther = 0;
    long hotBelow = -1;
    long calm = -1;
    long allBelow = -1;
    while ((calm < 0 || allBelow < 0) && simulator.now() - decided < MAX_NANOS) {
      simulator.run(LOOK);
      highestOther = Math.max(highestOther, highestBut(hot, cluster));
      if (hotBelow < 0 && hot.load() < cluster.low()) {
        hotBelow = simulator.now() - decided;
      }
      if (cluster.overloaded() > 0) {
        // Buses that took the load may be overloaded in their turn.
        calm = -1;
      } else if (calm < 0) {
        calm = simulator.now() - decided;
      }
      if (allBelow < 0 && cluster.buses().stream().allMatch(bus -> bus.load() < cluster.low())) {
        allBelow = simulator.now() - decided;
      }
    }
    simulator.run(5 * Simulator.SECOND);
    long moves = cluster.moves();
    simulator.run(AFTERWARDS);
    return new Outcome(
        buses,
        clients,
        asked,
        (decided - begun) / Simulator.MILLI,
        hotBelow < 0 ? -1 : hotBelow / Simulator.MILLI,
        calm < 0 ? -1 : calm / Simulator.MILLI,
        allBelow < 0 ? -1 : allBelow / Simulator.MILLI,
        moves,
        cluster.moves() - moves,
        cluster.movedTwiceInAMinute(),
        cluster.cameBack(),
        cluster.maxMoves(),
        highestOther,
        cluster.highest(),
        cluster.fingerprint());
  }

  private static double highestBut(LoadedBus hot, LoadedCluster cluster) {
    return cluster.buses().stream()
        .filter(bus -> bus != hot)
        .mapToDouble(LoadedBus::asked)
        .max()
        .orElse(0);
  }
}
