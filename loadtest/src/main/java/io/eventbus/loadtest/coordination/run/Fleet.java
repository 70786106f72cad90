package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.Placement;
import io.eventbus.loadtest.run.LatencySummary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/** One system's servers and the clients of them, which stay connected. For one thread. */
final class Fleet implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int TENTH = 100;

  private final Setup setup;
  private final CoordinationSystem system;
  private final CoordinationCluster cluster;
  private final List<CoordinationClient> clients = new ArrayList<>();
  private final List<List<Slot>> slots = new ArrayList<>();
  private final List<Supplier<CoordinationIntegrity>> checks = new ArrayList<>();
  private final IdleCpu idle = new IdleCpu();

  private Fleet(Setup setup, CoordinationSystem system, CoordinationCluster cluster) {
    this.setup = setup;
    this.system = system;
    this.cluster = cluster;
  }

  /** What is started for an experiment. */
  record Setup(
      String experiment,
      int servers,
      int clients,
      int inFlight,
      int payloadBytes,
      Placement placement) {}

  /** What happens beside the load. */
  interface Meanwhile {
    /** Nothing. */
    Meanwhile NOTHING = phase -> {};

    void during(Phase phase);
  }

  static Fleet start(Setup setup, CoordinationSystem system, Path directory)
      throws InterruptedException {
    CoordinationCluster cluster =
        system.start(setup.servers(), directory.resolve(system.name() + "-" + setup.servers()));
    Fleet fleet = new Fleet(setup, system, cluster);
    try {
      fleet.connect();
      return fleet;
    } catch (RuntimeException | InterruptedException e) {
      fleet.close();
      throw e;
    }
  }

  private void connect() throws InterruptedException {
    for (int c = 0; c < setup.clients(); c++) {
      CoordinationClient client = cluster.connect(c, setup.placement());
      clients.add(client);
      List<Slot> own = new ArrayList<>();
      for (int s = 0; s < setup.inFlight(); s++) {
        Slot slot = new Slot(client, "register-" + c + "-" + s, setup.payloadBytes());
        patiently(
            () -> {
              slot.create();
              return slot;
            });
        checks.add(slot::check);
        own.add(slot);
      }
      slots.add(own);
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

  /** Adds lists, which are checked at the end as the registers are. */
  void add(CoordinationSubscriptions lists) throws InterruptedException {
    CoordinationClient client = client(0);
    for (int i = 0; i < lists.lists(); i++) {
      int list = i;
      patiently(
          () -> {
            lists.create(client, list);
            return list;
          });
      checks.add(() -> lists.check(client, list));
    }
  }

  /** Something else than a phase is done with the servers: they are not idle. */
  void disturb() {
    idle.disturb();
  }

  /**
   * Performs steps for a while, or writes in pipelines.
   *
   * @throws CoordinationException if a client died or did not come to an end
   */
  PhaseResult run(Load load, Phase.Step step, Meanwhile meanwhile) throws InterruptedException {
    List<Slot> used =
        slots.stream()
            .limit(load.clients())
            .flatMap(own -> own.stream().limit(load.inFlight()))
            .toList();
    CpuTimes servers = CpuTimes.of(cluster.pids());
    idle.end(servers, System.nanoTime());
    long term = cluster.term();
    CpuTimes own = CpuTimes.ofThis();
    Phase phase = new Phase(used, load.length());
    if (load.inFlight() > 1) {
      phase.startPipelines();
    } else {
      phase.startThreads(step);
    }
    try {
      meanwhile.during(phase);
    } finally {
      phase.await();
    }
    CpuTimes serversAfter = CpuTimes.of(cluster.pids());
    long ownNanos = CpuTimes.ofThis().since(own);
    long termAfter = cluster.term();
    idle.begin(CpuTimes.of(cluster.pids()), System.nanoTime());
    return result(
        load,
        phase,
        term < 0 || termAfter < 0 ? -1 : termAfter - term,
        serversAfter.since(servers),
        ownNanos);
  }

  private PhaseResult result(
      Load load, Phase phase, long leaderChanges, long serverCpuNanos, long clientCpuNanos) {
    Histogram nanos = new Histogram(3);
    Map<String, Long> errors = new TreeMap<>();
    long worst = 0;
    long conflicts = 0;
    long late = 0;
    for (SlotRecorder recorder : phase.recorders()) {
      nanos.add(recorder.nanos);
      recorder.errors.forEach((kind, count) -> errors.merge(kind, count, Long::sum));
      worst = Math.max(worst, recorder.longestNanos());
      conflicts += recorder.conflicts();
      late += recorder.late();
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
        late,
        errors,
        conflicts,
        leaderChanges,
        micros(serverCpuNanos),
        micros(clientCpuNanos),
        phase.timeline.each(TENTH));
  }

  private static long micros(long nanos) {
    return nanos < 0 ? -1 : nanos / 1_000;
  }

  /** Reads every register and compares. */
  FleetResult check() throws InterruptedException {
    idle.disturb();
    long end = System.nanoTime() + TIMEOUT.toNanos();
    CoordinationIntegrity sum = CoordinationIntegrity.NONE;
    for (Supplier<CoordinationIntegrity> check : checks) {
      sum = sum.plus(repeatedly(check, end));
    }
    return new FleetResult(
        setup.experiment(), system.name(), cluster.servers(), sum, idle.percent());
  }

  private static <T> T patiently(Supplier<T> action) throws InterruptedException {
    return repeatedly(action, System.nanoTime() + TIMEOUT.toNanos());
  }

  private static <T> T repeatedly(Supplier<T> action, long end) throws InterruptedException {
    while (true) {
      try {
        return action.get();
      } catch (CoordinationException e) {
        if (System.nanoTime() - end > 0) {
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
