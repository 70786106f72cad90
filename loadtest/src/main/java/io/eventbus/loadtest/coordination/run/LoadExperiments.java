package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.Placement;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** The experiments in which nothing fails. */
final class LoadExperiments {
  private static final int SMALL = 3;
  private static final int LISTS = 100;

  private final CoordinationBench bench;
  private final Plan plan;

  LoadExperiments(CoordinationBench bench) {
    this.bench = bench;
    this.plan = bench.plan();
  }

  void table() throws InterruptedException {
    for (int servers : plan.servers()) {
      bench.with(
          bench.setup(
              CoordinationExperiment.TABLE, servers, plan.mostClients(), 1, Placement.LEADER),
          bench.systems(),
          this::table);
    }
  }

  private void table(Turns turns) throws InterruptedException {
    turns.each(fleet -> bench.warmUp(fleet, plan.mostClients(), 1, Phase::write));
    for (int round = 1; round <= plan.rounds(); round++) {
      for (int clients : plan.clients()) {
        Load load = new Load(CoordinationExperiment.TABLE, clients, 1, round, plan.duration());
        turns.each(fleet -> bench.measure(fleet, load, Phase::write, Fleet.Meanwhile.NOTHING));
      }
    }
  }

  void pipelined() throws InterruptedException {
    int clients = plan.pipelines();
    int inFlight = plan.inFlight();
    bench.with(
        bench.setup(CoordinationExperiment.PIPELINED, SMALL, clients, inFlight, Placement.LEADER),
        bench.systems(),
        turns -> {
          turns.each(fleet -> bench.warmUp(fleet, clients, inFlight, Phase::write));
          for (int round = 1; round <= plan.rounds(); round++) {
            Load load =
                new Load(
                    CoordinationExperiment.PIPELINED,
                    clients,
                    inFlight,
                    round,
                    plan.pipelinedDuration());
            turns.each(fleet -> bench.measure(fleet, load, Phase::write, Fleet.Meanwhile.NOTHING));
          }
        });
  }

  void transactions() throws InterruptedException {
    for (int servers : plan.servers()) {
      bench.with(
          bench.setup(
              CoordinationExperiment.TRANSACTIONS,
              servers,
              plan.mostClients(),
              1,
              Placement.LEADER),
          bench.systems(),
          this::transactions);
    }
  }

  private void transactions(Turns turns) throws InterruptedException {
    int clients = plan.mostClients();
    Map<Fleet, CoordinationSubscriptions> lists = new HashMap<>();
    turns.each(
        fleet -> {
          CoordinationSubscriptions own = new CoordinationSubscriptions(LISTS);
          fleet.add(own);
          lists.put(fleet, own);
          bench.warmUp(fleet, clients, 1, own::step);
        });
    for (int round = 1; round <= plan.rounds(); round++) {
      Load load = new Load(CoordinationExperiment.TRANSACTIONS, clients, 1, round, plan.duration());
      turns.each(
          fleet -> {
            CoordinationSubscriptions own =
                Objects.requireNonNull(lists.get(fleet), "warmed up before");
            bench.measure(fleet, load, own::step, Fleet.Meanwhile.NOTHING);
          });
    }
  }
}
