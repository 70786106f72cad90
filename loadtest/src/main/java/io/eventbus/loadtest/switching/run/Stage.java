package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.MoveFigures;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.run.Spread;
import io.eventbus.loadtest.switching.Buses;
import io.eventbus.loadtest.switching.Client;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Buses, clients and findings of an experiment. For one thread. */
final class Stage {
  private final SwitchPlan plan;
  private final Buses buses;
  private final MoveLatencies latencies = new MoveLatencies();
  private final MovingCrowd crowd;
  private final String experiment;
  private final Consumer<String> progress;
  private final List<Double> arrivals = new ArrayList<>();
  private final List<Double> rounds = new ArrayList<>();
  private final List<Double> pauses = new ArrayList<>();
  private final List<Double> others = new ArrayList<>();
  private final List<Double> still = new ArrayList<>();
  private Integrity allowed = Integrity.WHOLE;
  private int moves;

  private Stage(Buses buses, SwitchPlan plan, String experiment, Consumer<String> progress) {
    this.buses = buses;
    this.plan = plan;
    this.experiment = experiment;
    this.progress = progress;
    this.crowd = new MovingCrowd(buses, plan, latencies);
  }

  /**
   * Plays an experiment.
   *
   * @return what was found; with a problem if it ended early
   */
  static RunResult play(
      Script script,
      SwitchPlan plan,
      IntFunction<Buses> start,
      Consumer<String> progress,
      String version)
      throws InterruptedException {
    progress.accept(script.name() + ": " + script.buses() + " buses start");
    String startedAt = Instant.now().toString();
    try (Buses buses = start.apply(script.buses())) {
      Stage stage = new Stage(buses, plan, script.name(), progress);
      long begun = System.nanoTime();
      @Nullable String problem = null;
      try {
        script.play(stage);
      } catch (DriverException e) {
        problem = describe(e);
      }
      Integrity integrity = Integrity.WHOLE;
      try {
        integrity = stage.crowd.end();
      } catch (DriverException e) {
        problem = problem == null ? describe(e) : problem;
      }
      double seconds = millis(System.nanoTime() - begun) / 1_000;
      return stage.result(startedAt, version, seconds, integrity, problem);
    } catch (DriverException e) {
      return RunResult.failed(
          SwitchExperiments.FAMILY + script.name(),
          SwitchExperiments.DRIVER,
          version,
          1,
          startedAt,
          describe(e));
    }
  }

  private static String describe(DriverException e) {
    return e.getCause() == null
        ? String.valueOf(e.getMessage())
        : e.getMessage() + ": " + e.getCause();
  }

  private RunResult result(
      String startedAt, String version, double seconds, Integrity all, @Nullable String problem) {
    List<Client> clients = crowd.clients();
    MoveFigures figures =
        new MoveFigures(
            moves,
            Spread.of(arrivals),
            Spread.of(rounds),
            Spread.of(pauses),
            Spread.of(others),
            Spread.of(still),
            latencies.summary(MoveLatencies.Phase.BEFORE),
            latencies.summary(MoveLatencies.Phase.AFTER),
            stayed(clients),
            clients.stream().mapToLong(Client::disconnects).sum());
    return new RunResult(
        SwitchExperiments.FAMILY + experiment,
        SwitchExperiments.DRIVER,
        version,
        1,
        startedAt,
        seconds,
        crowd.sources().stream().mapToLong(Source::sent).sum(),
        crowd.received(),
        latencies.summary(MoveLatencies.Phase.DURING),
        -1,
        -1,
        -1,
        -1,
        all.minus(allowed),
        allowed.lost(),
        0,
        List.of(),
        null,
        null,
        null,
        figures,
        problem);
  }

  /** Counts the reasons; figures in them, such as ports, do not make two of one. */
  private static Map<String, Long> stayed(List<Client> clients) {
    return clients.stream()
        .flatMap(client -> client.stayed().stream())
        .map(why -> why.replaceAll("[0-9]+", "n"))
        .collect(Collectors.groupingBy(why -> why, TreeMap::new, Collectors.counting()));
  }

  SwitchPlan plan() {
    return plan;
  }

  Buses buses() {
    return buses;
  }

  MovingCrowd crowd() {
    return crowd;
  }

  /** Connects a publisher and as many subscribers to each bus, and lets events flow for a while. */
  void beginOnAll(int count) throws InterruptedException {
    crowd.begin(count, plan.members() - count, client -> client % count, plan.clientRate(), true);
    tell("%d clients are connected; warm-up", plan.members());
    crowd.flow(plan.warmUp());
  }

  static double millis(long nanos) {
    return nanos / (double) TimeUnit.MILLISECONDS.toNanos(1);
  }

  void tell(String format, Object... arguments) {
    progress.accept(experiment + ": " + String.format(Locale.ROOT, format, arguments));
  }

  /** Counts clients that have arrived at another bus. */
  void moved(int count) {
    moves += count;
  }

  void arrived(double millis) {
    arrivals.add(millis);
  }

  void round(double millis) {
    rounds.add(millis);
  }

  void paused(double millis) {
    pauses.add(millis);
  }

  void otherPaused(double millis) {
    others.add(millis);
  }

  void still(List<Double> millis) {
    still.addAll(millis);
  }

  /** Notes that something may be lost, because the bus that had it was killed. */
  void allow(long lost) {
    allowed = allowed.plus(new Integrity(lost, 0, 0, 0));
  }
}
