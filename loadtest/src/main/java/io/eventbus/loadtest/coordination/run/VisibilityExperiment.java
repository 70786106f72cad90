package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.Placement;
import io.eventbus.loadtest.coordination.VisibleCluster;
import io.eventbus.loadtest.coordination.VisibleSystem;
import java.util.List;

/** Servers join, and tell when they saw changes; of the systems that can. */
final class VisibilityExperiment {
  private static final int CLIENTS = 10;
  private static final int SMALL = 3;
  private static final int JOINS = 3;

  private final CoordinationBench bench;
  private final Plan plan;

  VisibilityExperiment(CoordinationBench bench) {
    this.bench = bench;
    this.plan = bench.plan();
  }

  void run() throws InterruptedException {
    List<CoordinationSystem> able =
        bench.systems().stream().filter(VisibleSystem.class::isInstance).toList();
    if (able.isEmpty()) {
      bench.progress().accept("visibility: no system that tells");
      return;
    }
    bench.with(
        bench.setup("visibility", SMALL, CLIENTS, 1, Placement.LEADER),
        able,
        turns -> {
          turns.each(fleet -> bench.warmUp(fleet, CLIENTS, 1, Phase::write));
          turns.each(
              fleet -> {
                if (fleet.cluster() instanceof VisibleCluster cluster) {
                  join(fleet, cluster);
                  watch(fleet, cluster);
                }
              });
        });
  }

  private void join(Fleet fleet, VisibleCluster cluster) throws InterruptedException {
    for (int i = 0; i < JOINS; i++) {
      VisibleCluster.Joined joined = cluster.join();
      bench
          .findings()
          .add(
              new Findings.Join(
                  fleet.system().name(),
                  cluster.servers(),
                  joined.inProcessMillis(),
                  joined.wholeMillis()));
      bench
          .progress()
          .accept(
              String.format(
                  "join %s: bus %d after %.0f ms",
                  fleet.system().name(), cluster.servers(), joined.inProcessMillis()));
      cluster.awaitWhole();
    }
  }

  private void watch(Fleet fleet, VisibleCluster cluster) throws InterruptedException {
    // The listeners have just started.
    bench.warmUp(fleet, CLIENTS, 1, Phase::write);
    fleet.disturb();
    ChangeWatch watch = new ChangeWatch(cluster, fleet.client(0));
    Findings.Visibility seen = watch.run(fleet.system().name(), plan.changes());
    bench.findings().add(seen);
    bench
        .progress()
        .accept(
            String.format(
                "visibility %s: %d buses, p50 %.1f ms, p99 %.1f ms after the answer",
                seen.system(),
                seen.buses(),
                seen.afterAnswer().p50() / 1_000,
                seen.afterAnswer().p99() / 1_000));
  }
}
