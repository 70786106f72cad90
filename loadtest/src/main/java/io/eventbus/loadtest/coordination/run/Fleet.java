package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.run.LatencySummary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** One system's servers and the clients of them, which stay connected. For one thread. */
final class Fleet implements AutoCloseable {
  private static final int CHECK_ATTEMPTS = 50;
  private static final int TENTH = 100;

  private final String experiment;
  private final CoordinationSystem system;
  private final CoordinationCluster cluster;
  private final List<CoordinationClient> clients = new ArrayList<>();
  private final List<List<Slot>> slots = new ArrayList<>();
  private long idleSince;
  private long idleCpu;
  private long idleNanos;
  private long idleCpuNanos;

  private Fleet(String experiment, CoordinationSystem system, CoordinationCluster cluster) {
    this.experiment = experiment;
    this.system = system;
    this.cluster = cluster;
  }

  /** How a phase is made. */
  record Load(String experiment, int clients, int inFlight, int round, Duration length) {}

  /** What happens beside the load. */
  interface Meanwhile {
    /** Nothing. */
    Meanwhile NOTHING = phase -> {};

    void during(Phase phase);
  }

  static Fleet start(
      String experiment,
      CoordinationSystem system,
      int servers,
      Path directory,
      int clients,
      int inFlight,
      int payloadBytes)
      throws InterruptedException {
    CoordinationCluster cluster =
        system.start(servers, directory.resolve(system.name() + "-" + servers));
    Fleet fleet = new Fleet(experiment, system, cluster);
    try {
      for (int c = 0; c < clients; c++) {
        CoordinationClient client = cluster.connect(c);
        fleet.clients.add(client);
        List<Slot> own = new ArrayList<>();
        for (int s = 0; s < inFlight; s++) {
          Slot slot = new Slot(client, "register-" + c + "-" + s, payloadBytes);
          slot.create();
          own.add(slot);
        }
        fleet.slots.add(own);
      }
      return fleet;
    } catch (RuntimeException e) {
      fleet.close();
      throw e;
    }
  }

  CoordinationSystem system() {
    return system;
  }

  CoordinationCluster cluster() {
    return cluster;
  }

  CoordinationClient client(int number) {
    return clients.get(number);
  }

  /** Writes for a while. */
  PhaseResult write(Load load, Meanwhile meanwhile) throws InterruptedException {
    if (load.inFlight() == 1) {
      return run(load, Phase::write, meanwhile);
    }
    return run(load, null, meanwhile);
  }

  /** Performs steps for a while; no step for writes in pipelines. */
  PhaseResult run(
      Load load, Phase.@org.jspecify.annotations.Nullable Step step, Meanwhile meanwhile)
      throws InterruptedException {
    List<Slot> used =
        slots.stream()
            .limit(load.clients())
            .flatMap(own -> own.stream().limit(load.inFlight()))
            .toList();
    long term = cluster.term();
    List<Long> pids = cluster.pids();
    long serverCpu = cpuNanos(pids);
    long clientCpu = cpuNanos(List.of(ProcessHandle.current().pid()));
    long begun = System.nanoTime();
    if (idleSince != 0) {
      idleNanos += begun - idleSince;
      idleCpuNanos += serverCpu - idleCpu;
    }
    Phase phase = new Phase(used, load.length());
    if (step == null) {
      phase.startPipelines();
    } else {
      phase.startThreads(step);
    }
    meanwhile.during(phase);
    phase.await();
    long serverCpuAfter = cpuNanos(cluster.pids());
    long clientCpuAfter = cpuNanos(List.of(ProcessHandle.current().pid()));
    boolean all = cluster.pids().size() == pids.size();
    idleSince = all ? System.nanoTime() : 0;
    idleCpu = serverCpuAfter;
    return result(
        load,
        phase,
        cluster.term() - term,
        all ? serverCpuAfter - serverCpu : -1,
        clientCpuAfter - clientCpu);
  }

  private PhaseResult result(
      Load load, Phase phase, long leaderChanges, long serverCpuNanos, long clientCpuNanos) {
    Histogram nanos = new Histogram(3);
    Map<String, Long> errors = new TreeMap<>();
    long worst = 0;
    long conflicts = 0;
    for (SlotRecorder recorder : phase.recorders()) {
      nanos.add(recorder.nanos);
      recorder.errors.forEach((kind, count) -> errors.merge(kind, count, Long::sum));
      worst = Math.max(worst, recorder.longestNanos());
      conflicts += recorder.conflicts();
    }
    return new PhaseResult(
        load.experiment(),
        system.name(),
        cluster.servers(),
        load.clients(),
        load.inFlight(),
        load.round(),
        load.length().toMillis() / 1_000.0,
        phase.timeline.total(),
        LatencySummary.of(nanos),
        phase.timeline.longestGapMillis(),
        worst / 1e6,
        errors,
        conflicts,
        leaderChanges,
        serverCpuNanos < 0 ? -1 : serverCpuNanos / 1_000,
        clientCpuNanos / 1_000,
        phase.timeline.each(TENTH));
  }

  /** CPU time of processes so far, user and system. */
  private static long cpuNanos(List<Long> pids) {
    return pids.stream()
        .flatMap(pid -> ProcessHandle.of(pid).stream())
        .flatMap(process -> process.info().totalCpuDuration().stream())
        .mapToLong(Duration::toNanos)
        .sum();
  }

  /** Reads every register and compares. */
  FleetResult check() throws InterruptedException {
    Integrity sum = Integrity.NONE;
    for (List<Slot> own : slots) {
      for (Slot slot : own) {
        sum = sum.plus(check(slot));
      }
    }
    double idle =
        idleNanos == 0 ? -1 : 100.0 * idleCpuNanos / idleNanos / Math.max(1, cluster.servers());
    return new FleetResult(experiment, system.name(), cluster.servers(), sum, idle);
  }

  private static Integrity check(Slot slot) throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        return slot.check();
      } catch (CoordinationException e) {
        if (attempt == CHECK_ATTEMPTS) {
          throw e;
        }
        TimeUnit.MILLISECONDS.sleep(TENTH);
      }
    }
  }

  @Override
  public void close() {
    cluster.close();
  }
}
