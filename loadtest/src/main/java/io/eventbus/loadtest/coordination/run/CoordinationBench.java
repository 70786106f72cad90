package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.Placement;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * What every experiment needs: it starts the systems, warms them up, measures phases, and has what
 * the servers hold checked at the end.
 */
record CoordinationBench(
    List<CoordinationSystem> systems,
    Plan plan,
    Path directory,
    Consumer<String> progress,
    Findings findings) {
  /** After the turns of others a system's first moments are not measured. */
  static final Duration LEAD_IN = Duration.ofMillis(300);

  /** What is done with systems that run. */
  interface Body {
    void run(Turns turns) throws InterruptedException;
  }

  Fleet.Setup setup(String experiment, int servers, int clients, int inFlight, Placement usual) {
    return new Fleet.Setup(
        experiment, servers, clients, inFlight, plan.payloadBytes(), plan.placementOr(usual));
  }

  /** Starts systems, does something, checks what they hold, and ends them. */
  void with(Fleet.Setup setup, List<CoordinationSystem> used, Body body)
      throws InterruptedException {
    try (Turns turns = new Turns(setup, findings, progress)) {
      for (CoordinationSystem system : used) {
        progress.accept(
            setup.experiment()
                + ": starting "
                + system.name()
                + ", "
                + setup.servers()
                + " servers");
        turns.start(system, directory.resolve(setup.experiment()));
      }
      body.run(turns);
      turns.end();
    }
  }

  /** Loads a system before anything is measured, with what will be measured. */
  void warmUp(Fleet fleet, int clients, int inFlight, Phase.Step step) throws InterruptedException {
    Load load = new Load(CoordinationExperiment.WARM_UP, clients, inFlight, 0, plan.warmUp());
    told(fleet.run(load, step, Fleet.Meanwhile.NOTHING));
  }

  /** Servers that were started again are cold. */
  void recover(Fleet fleet, Load load) throws InterruptedException {
    fleet.cluster().awaitWhole();
    if (plan.recovery().toMillis() > 0) {
      fleet.run(load.during(plan.recovery()), Phase::write, Fleet.Meanwhile.NOTHING);
    }
  }

  /** Measures a phase, after a moment that is not measured. */
  void measure(Fleet fleet, Load load, Phase.Step step, Fleet.Meanwhile meanwhile)
      throws InterruptedException {
    fleet.run(load.during(LEAD_IN), step, Fleet.Meanwhile.NOTHING);
    told(fleet.run(load, step, meanwhile));
  }

  private void told(PhaseResult result) {
    findings.add(result);
    progress.accept(PhaseLine.of(result));
  }
}
