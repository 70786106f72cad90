package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Compares the medians of one report with what the event bus is to reach, line by line.
 *
 * <p>Nothing is taken from elsewhere: both sides of each ratio come from the same invocation, with
 * the systems interleaved. The one exception is said in its line: jnats against NATS's Go client,
 * which the load test does not drive.
 */
final class SpeedTargets {
  private static final String BUS = "eventbus";
  private static final String NATS = "nats";
  private static final String NATS_SHARED = "nats-nio";

  /** Workloads in which NATS's ordinary Java client would be measured instead of the server. */
  private static final List<String> SHARED =
      List.of("fan-out/100", "fan-out/1000", "many-topics/subscriber-per-topic");

  private static final String PAPER = "tyrus-paper";
  private static final String MICROS = " µs";
  private static final double KIB = 1024;

  private final List<Summary> summaries;
  private final List<SpeedTarget> targets = new ArrayList<>();

  private SpeedTargets(List<Summary> summaries) {
    this.summaries = summaries;
  }

  static List<SpeedTarget> of(Report report) {
    SpeedTargets targets = new SpeedTargets(report.summaries());
    targets.oneToOne();
    targets.fanOut();
    targets.manyTopics();
    targets.latency();
    targets.idle();
    targets.paper();
    targets.logins();
    targets.routing();
    targets.targets.addAll(FederationTargets.of(report.summaries()));
    targets.targets.addAll(DurableTargets.of(report.summaries()));
    targets.integrity();
    return List.copyOf(targets.targets);
  }

  private void oneToOne() {
    // The ratio of NATS's Go client to jnats, as measured once on such a machine.
    throughput("one-to-one/16B", NATS, 3, 1.41 / 1.45);
    throughput("one-to-one/128B", NATS, 3, 1.06 / 0.82);
    throughput("one-to-one/1KiB", NATS, 2.5, 0.32 / 0.23);
    throughput("one-to-one/16KiB", NATS, 2, 26.0 / 16);
  }

  private void throughput(String workload, String peer, double factor, double goClient) {
    atLeast(workload, peer, factor, "");
    atLeast(
        workload,
        peer,
        2 * goClient,
        String.format(Locale.ROOT, ": 2 x its Go client (%.2f x jnats)", goClient));
  }

  private void fanOut() {
    for (String workload : List.of("fan-out/100", "fan-out/1000")) {
      atLeast(workload, NATS, 2, "");
      atMost(workload, NATS, 0.5, "server CPU for one delivery", MICROS, Summary::serverCpuMicros);
    }
  }

  private void manyTopics() {
    atLeast("many-topics/one-subscriber", NATS, 1.5, "");
    atLeast("many-topics/subscriber-per-topic", NATS, 1.5, "");
  }

  private void latency() {
    for (String workload : List.of("latency/10k", "latency/50k")) {
      atMost(workload, NATS, 1, "p50", MICROS, Summary::p50);
      atMost(workload, NATS, 1, "p99", MICROS, Summary::p99);
      atMost(workload, NATS, 1.5, "p99.9", MICROS, Summary::p999);
    }
  }

  private void idle() {
    String goal = "idle/10000: RSS of each <= 6 KiB";
    Optional<Summary> bus = find("idle/10000", BUS);
    if (bus.isEmpty()) {
      targets.add(SpeedTarget.notMeasured(goal, "no run of idle/10000"));
    } else {
      double each = bus.get().idleRssBytes();
      targets.add(SpeedTarget.of(goal, Figures.kibibytes(each) + " KiB", each <= 6 * KIB));
    }
    atMost("idle/10000", NATS, 1, "RSS of each", " bytes", Summary::idleRssBytes);
  }

  private void paper() {
    atLeast("one-to-one/128B", PAPER, 20, "");
    for (String workload : List.of("latency/10k", "latency/50k")) {
      atMost(workload, PAPER, 0.1, "p50", MICROS, Summary::p50);
      atMost(workload, PAPER, 0.1, "p99", MICROS, Summary::p99);
    }
  }

  private void logins() {
    ratio("connects/es256", "connects/none", 0.8, "connects/s", Summary::idleConnectsPerSecond);
    ratio("permissions/roles", "permissions/none", 0.98, "events/s", Summary::deliveredPerSecond);
  }

  /** Compares two workloads of the bus. */
  private void ratio(
      String workload, String other, double factor, String what, ToDoubleFunction<Summary> figure) {
    String goal = String.format(Locale.ROOT, "%s: >= %.2f x %s %s", workload, factor, other, what);
    double mine = find(workload, BUS).map(figure::applyAsDouble).orElse(0.0);
    double theirs = find(other, BUS).map(figure::applyAsDouble).orElse(0.0);
    targets.add(
        mine > 0 && theirs > 0
            ? SpeedTarget.of(
                goal,
                String.format(
                    Locale.ROOT,
                    "%.3f x (%s : %s)",
                    mine / theirs,
                    Figures.rate(mine),
                    Figures.rate(theirs)),
                mine >= factor * theirs)
            : SpeedTarget.notMeasured(goal, "no run of both"));
  }

  private void routing() {
    targets.add(
        SpeedTarget.notMeasured(
            "routing: 0 bytes and <= 100 ns for an event of 128 B in batches of 100",
            "by the JMH benchmark RouterBenchmark, with -prof gc"));
  }

  private void integrity() {
    List<Summary> of = summaries.stream().filter(s -> s.driver().equals(BUS)).toList();
    if (of.isEmpty()) {
      targets.add(SpeedTarget.notMeasured("integrity: 0/0/0", "no run of " + BUS));
      return;
    }
    String goal =
        "integrity: 0/0/0 in "
            + of.stream()
                .map(s -> s.workload().replaceFirst("/.*", ""))
                .distinct()
                .collect(Collectors.joining(", "));
    List<String> broken =
        of.stream()
            .filter(s -> !s.integrity().whole() || s.allowedLost() > 0 || s.failed() > 0)
            .map(s -> s.workload() + " " + s.verdict())
            .toList();
    String figure =
        broken.isEmpty() ? of.size() + " workloads without a fault" : String.join(", ", broken);
    targets.add(SpeedTarget.of(goal, figure, broken.isEmpty()));
  }

  private void atLeast(String workload, String peer, double factor, String more) {
    String goal = String.format(Locale.ROOT, "%s: >= %.2f x %s%s", workload, factor, peer, more);
    compare(
        goal,
        workload,
        peer,
        Summary::deliveredPerSecond,
        (mine, theirs) ->
            SpeedTarget.of(
                goal,
                String.format(
                    Locale.ROOT,
                    "%.2f x (%s : %s)",
                    mine / theirs,
                    Figures.rate(mine),
                    Figures.rate(theirs)),
                mine >= factor * theirs));
  }

  private void atMost(
      String workload,
      String peer,
      double factor,
      String what,
      String unit,
      ToDoubleFunction<Summary> figure) {
    String goal = String.format(Locale.ROOT, "%s: %s <= %.2f x %s", workload, what, factor, peer);
    compare(
        goal,
        workload,
        peer,
        figure,
        (mine, theirs) ->
            SpeedTarget.of(
                goal,
                String.format(
                    Locale.ROOT,
                    "%.2f x (%s : %s%s)",
                    mine / theirs,
                    Figures.micros(mine),
                    Figures.micros(theirs),
                    unit),
                mine <= factor * theirs));
  }

  /** Makes a line of two figures. */
  private interface Comparison {
    SpeedTarget of(double mine, double theirs);
  }

  private void compare(
      String goal,
      String workload,
      String peer,
      ToDoubleFunction<Summary> figure,
      Comparison comparison) {
    String faster = faster(workload, peer);
    for (String driver : List.of(BUS, faster)) {
      Optional<Summary> summary = find(workload, driver);
      if (summary.isEmpty() || figure.applyAsDouble(summary.get()) <= 0) {
        targets.add(SpeedTarget.notMeasured(goal, "no figure of " + driver));
        return;
      }
    }
    targets.add(
        comparison.of(
            figure.applyAsDouble(find(workload, BUS).orElseThrow()),
            figure.applyAsDouble(find(workload, faster).orElseThrow())));
  }

  /** Chooses the faster of NATS's two clients: the one that is not in the server's way. */
  private String faster(String workload, String peer) {
    if (!peer.equals(NATS)) {
      return peer;
    }
    double ordinary = find(workload, NATS).map(Summary::deliveredPerSecond).orElse(0.0);
    double shared = find(workload, NATS_SHARED).map(Summary::deliveredPerSecond).orElse(0.0);
    return shared > ordinary && SHARED.contains(workload) ? NATS_SHARED : NATS;
  }

  private Optional<Summary> find(String workload, String driver) {
    return summaries.stream()
        .filter(s -> s.workload().equals(workload) && s.driver().equals(driver) && s.runs() > 0)
        .findFirst();
  }
}
