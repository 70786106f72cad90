package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.Register;
import io.eventbus.loadtest.coordination.VisibleCluster;
import io.eventbus.loadtest.driver.DriverException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The experiments. Systems take turns in each, so that what changes on the machine meets them all.
 */
public final class Experiment {
  /** The name of the phases that warm up. */
  public static final String WARM_UP = "warm-up";

  /** The name of the phases of the paper's table. */
  public static final String TABLE = "table";

  /** The name of the phases with pipelined clients. */
  public static final String PIPELINED = "pipelined";

  /** The name of the phases with transactions. */
  public static final String TRANSACTIONS = "transactions";

  /** The name of the phases in which the leader is killed again and again. */
  public static final String LEADER_KILL = "leader-kill";

  /** After the turns of others a system's first moments are not measured. */
  private static final Duration LEAD_IN = Duration.ofMillis(300);

  private static final Duration FAILURE = Duration.ofSeconds(5);
  private static final Duration KILL = Duration.ofSeconds(3);
  private static final int FAILURE_CLIENTS = 10;
  private static final int SMALL = 3;
  private static final int LISTS = 100;
  private static final int JOINS = 3;

  private final List<CoordinationSystem> systems;
  private final Plan plan;
  private final Path directory;
  private final Consumer<String> progress;
  private final Findings findings;

  /**
   * Makes the experiments.
   *
   * @param systems those that are there
   * @param plan how
   * @param directory takes the servers' data
   * @param progress is told what is being done
   * @param findings takes what is found
   */
  public Experiment(
      List<CoordinationSystem> systems,
      Plan plan,
      Path directory,
      Consumer<String> progress,
      Findings findings) {
    this.systems = List.copyOf(systems);
    this.plan = plan;
    this.directory = directory;
    this.progress = progress;
    this.findings = findings;
  }

  private interface Body {
    void run(List<Fleet> fleets) throws InterruptedException;
  }

  /** Starts all systems, warms them up, does something, checks what they hold, and ends them. */
  private void with(
      String experiment,
      List<CoordinationSystem> used,
      int servers,
      int clients,
      int inFlight,
      Body body)
      throws InterruptedException {
    List<Fleet> fleets = new ArrayList<>();
    try {
      for (CoordinationSystem system : used) {
        progress.accept(experiment + ": starting " + system.name() + ", " + servers + " servers");
        Path place = directory.resolve(experiment);
        fleets.add(
            Fleet.start(
                experiment, system, servers, place, clients, inFlight, plan.payloadBytes()));
      }
      for (Fleet fleet : fleets) {
        warmUp(fleet, clients, inFlight, plan.warmUp());
      }
      body.run(fleets);
      for (Fleet fleet : fleets) {
        findings.add(fleet.check());
      }
    } catch (CoordinationException | DriverException e) {
      findings.problem(experiment + ", " + servers + " servers: " + e.getMessage());
      progress.accept("failed: " + e.getMessage());
    } finally {
      fleets.forEach(Fleet::close);
    }
  }

  private void warmUp(Fleet fleet, int clients, int inFlight, Duration length)
      throws InterruptedException {
    told(
        fleet.write(
            new Fleet.Load(WARM_UP, clients, inFlight, 0, length), Fleet.Meanwhile.NOTHING));
  }

  private PhaseResult told(PhaseResult result) {
    findings.add(result);
    progress.accept(PhaseLine.of(result));
    return result;
  }

  /**
   * Measures closed-loop clients for every number of servers and clients.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void table() throws InterruptedException {
    for (int servers : plan.servers()) {
      with(TABLE, systems, servers, plan.mostClients(), 1, this::table);
    }
  }

  private void table(List<Fleet> fleets) throws InterruptedException {
    for (int round = 1; round <= plan.rounds(); round++) {
      for (int clients : plan.clients()) {
        for (Fleet fleet : fleets) {
          fleet.write(new Fleet.Load(TABLE, clients, 1, round, LEAD_IN), Fleet.Meanwhile.NOTHING);
          told(
              fleet.write(
                  new Fleet.Load(TABLE, clients, 1, round, plan.duration()),
                  Fleet.Meanwhile.NOTHING));
        }
      }
    }
  }

  /**
   * Kills servers as the paper does, in every cluster that is large enough.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void failures() throws InterruptedException {
    for (int servers : plan.servers()) {
      if (servers < SMALL) {
        continue;
      }
      with("failures", systems, servers, FAILURE_CLIENTS, 1, fleets -> failures(fleets, servers));
    }
  }

  private void failures(List<Fleet> fleets, int servers) throws InterruptedException {
    for (int round = 1; round <= plan.rounds(); round++) {
      for (Scenario scenario : Scenario.values()) {
        for (Fleet fleet : fleets) {
          if (scenario.fits(servers)) {
            fail(
                fleet,
                scenario,
                new Fleet.Load(scenario.label(), FAILURE_CLIENTS, 1, round, FAILURE));
          }
        }
      }
    }
  }

  private void fail(Fleet fleet, Scenario scenario, Fleet.Load load) throws InterruptedException {
    List<Scenario.Kill> kills = scenario.kills(fleet.cluster().servers(), fleet.cluster().leader());
    told(
        fleet.write(
            load,
            phase ->
                kills.forEach(
                    kill -> {
                      phase.awaitTime(kill.at());
                      fleet.cluster().kill(kill.server());
                    })));
    // What the survivors hold is what counts.
    findings.add(fleet.check());
    kills.forEach(kill -> fleet.cluster().restart(kill.server()));
    fleet.cluster().awaitWhole();
    // The servers that came back are cold.
    fleet.write(
        new Fleet.Load(WARM_UP, load.clients(), 1, load.round(), plan.duration()),
        Fleet.Meanwhile.NOTHING);
  }

  /**
   * Measures clients with many commands in flight, and counts the changes of the leader.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void pipelined() throws InterruptedException {
    with(
        PIPELINED,
        systems,
        SMALL,
        plan.pipelines(),
        plan.inFlight(),
        fleets -> {
          for (int round = 1; round <= plan.rounds(); round++) {
            for (Fleet fleet : fleets) {
              Fleet.Load load =
                  new Fleet.Load(
                      PIPELINED,
                      plan.pipelines(),
                      plan.inFlight(),
                      round,
                      plan.pipelinedDuration());
              told(fleet.write(load, Fleet.Meanwhile.NOTHING));
            }
          }
        });
  }

  /**
   * Measures transactions: read a list, change it, write it back if nobody else did meanwhile.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void transactions() throws InterruptedException {
    int clients = plan.mostClients();
    for (int servers : plan.servers()) {
      with(
          TRANSACTIONS,
          systems,
          servers,
          clients,
          1,
          fleets -> {
            for (Fleet fleet : fleets) {
              for (int i = 0; i < LISTS; i++) {
                fleet.client(0).create("list-" + i, "nobody");
              }
            }
            for (int round = 1; round <= plan.rounds(); round++) {
              for (Fleet fleet : fleets) {
                Fleet.Load load = new Fleet.Load(TRANSACTIONS, clients, 1, round, plan.duration());
                told(fleet.run(load, Experiment::subscribe, Fleet.Meanwhile.NOTHING));
              }
            }
          });
    }
  }

  /** Enters a client into a list, or takes it out if it stands there. */
  private static void subscribe(Slot slot, SlotRecorder recorder) {
    CoordinationClient client = slot.client();
    String name = "subscriber-" + Thread.currentThread().getName();
    String list = "list-" + RandomGenerator.getDefault().nextInt(LISTS);
    while (true) {
      Register read = client.read(list);
      if (client.replace(read, Lists.toggle(read.value(), name))) {
        return;
      }
      recorder.conflict();
    }
  }

  /**
   * Kills the leader again and again.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void leaderKills() throws InterruptedException {
    with(
        LEADER_KILL,
        systems,
        SMALL,
        FAILURE_CLIENTS,
        1,
        fleets -> {
          for (int round = 1; round <= plan.kills(); round++) {
            for (Fleet fleet : fleets) {
              kill(fleet, round);
            }
          }
        });
  }

  private void kill(Fleet fleet, int round) throws InterruptedException {
    int leader = fleet.cluster().leader();
    told(
        fleet.write(
            new Fleet.Load(LEADER_KILL, FAILURE_CLIENTS, 1, round, KILL),
            phase -> {
              phase.awaitTime(LEAD_IN);
              fleet.cluster().kill(leader);
            }));
    fleet.cluster().restart(leader);
    fleet.cluster().awaitWhole();
  }

  /**
   * Measures when changes are visible on five buses, of which three vote, and how long buses take
   * to join; of the systems that tell.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void visibility() throws InterruptedException {
    with(
        "visibility",
        systems,
        SMALL,
        FAILURE_CLIENTS,
        1,
        fleets -> {
          for (Fleet fleet : fleets) {
            if (fleet.cluster() instanceof VisibleCluster cluster) {
              join(fleet, cluster);
              watch(fleet, cluster);
            }
          }
        });
  }

  private void join(Fleet fleet, VisibleCluster cluster) throws InterruptedException {
    for (int i = 0; i < JOINS; i++) {
      VisibleCluster.Joined joined = cluster.join();
      findings.add(
          new Findings.Join(
              fleet.system().name(),
              cluster.servers(),
              joined.inProcessMillis(),
              joined.wholeMillis()));
      progress.accept(
          String.format(
              "join %s: bus %d after %.0f ms",
              fleet.system().name(), cluster.servers(), joined.inProcessMillis()));
      cluster.awaitWhole();
    }
  }

  private void watch(Fleet fleet, VisibleCluster cluster) throws InterruptedException {
    // The listeners have just started.
    warmUp(fleet, FAILURE_CLIENTS, 1, plan.warmUp());
    ChangeWatch watch = new ChangeWatch(cluster, fleet.client(0));
    Findings.Visibility seen = watch.run(fleet.system().name(), plan.changes());
    findings.add(seen);
    progress.accept(
        String.format(
            "visibility %s: %d buses, p50 %.1f ms, p99 %.1f ms after the answer",
            seen.system(),
            seen.buses(),
            seen.afterAnswer().p50() / 1_000,
            seen.afterAnswer().p99() / 1_000));
  }
}
