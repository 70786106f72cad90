package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.Placement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The experiments in which servers are killed. */
final class FailureExperiments {
  private static final Duration FAILURE = Duration.ofSeconds(5);
  private static final Duration KILL = Duration.ofSeconds(3);
  private static final int CLIENTS = 10;
  private static final int SMALL = 3;

  private final CoordinationBench bench;
  private final Plan plan;

  FailureExperiments(CoordinationBench bench) {
    this.bench = bench;
    this.plan = bench.plan();
  }

  void failures() throws InterruptedException {
    for (int servers : plan.servers()) {
      if (servers >= SMALL) {
        bench.with(
            bench.setup("failures", servers, CLIENTS, 1, Placement.SPREAD),
            bench.systems(),
            turns -> failures(turns, servers));
      }
    }
  }

  private void failures(Turns turns, int servers) throws InterruptedException {
    turns.each(fleet -> bench.warmUp(fleet, CLIENTS, 1, Phase::write));
    for (int round = 1; round <= plan.rounds(); round++) {
      for (CoordinationScenario scenario : CoordinationScenario.values()) {
        if (scenario.fits(servers)) {
          Load load = new Load(scenario.label(), CLIENTS, 1, round, FAILURE);
          turns.each(fleet -> fail(fleet, load, scenario.kills()));
        }
      }
    }
  }

  void leaderKills() throws InterruptedException {
    List<CoordinationScenario.Kill> kills =
        List.of(new CoordinationScenario.Kill(true, CoordinationBench.LEAD_IN));
    bench.with(
        bench.setup(CoordinationExperiment.LEADER_KILL, SMALL, CLIENTS, 1, Placement.SPREAD),
        bench.systems(),
        turns -> {
          turns.each(fleet -> bench.warmUp(fleet, CLIENTS, 1, Phase::write));
          for (int round = 1; round <= plan.kills(); round++) {
            Load load = new Load(CoordinationExperiment.LEADER_KILL, CLIENTS, 1, round, KILL);
            turns.each(fleet -> fail(fleet, load, kills));
          }
        });
  }

  private void fail(Fleet fleet, Load load, List<CoordinationScenario.Kill> kills)
      throws InterruptedException {
    CoordinationCluster cluster = fleet.cluster();
    List<Integer> killed = new ArrayList<>();
    bench.measure(
        fleet,
        load,
        Phase::write,
        phase -> {
          for (CoordinationScenario.Kill kill : kills) {
            phase.awaitTime(kill.at());
            List<Integer> alive =
                IntStream.range(0, cluster.servers())
                    .boxed()
                    .filter(server -> !killed.contains(server))
                    .toList();
            int victim = kill.choose(alive, cluster.leader());
            killed.add(victim);
            cluster.kill(victim);
          }
        });
    // What the survivors hold, and have counted, is what counts; the end shows it.
    fleet.check();
    killed.forEach(cluster::restart);
    bench.recover(fleet, load);
  }
}
