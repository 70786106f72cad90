package io.eventbus.cli.demo;

import io.eventbus.cli.console.BusLauncher.RunningBus;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.ResultOutput;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Demo of a bus at work on real data. */
@Command(
    name = "demo",
    description = {
      "Starts a bus on free ports of this machine and replays a month of flights through it, with"
          + " several publishers and subscribers.",
      "Ends with 0 only if every subscriber got exactly the events that the data says, in order;"
          + " else with 4.",
      "With --buses 3 it starts three buses as processes of their own, which are one cluster. Most"
          + " clients begin at one bus, which is so overloaded and moves some to others; then a bus"
          + " is drained, ended and removed. Ends with 0 only if besides the above clients were"
          + " moved and the drained bus had none left; with 1 if not.",
      "With --durable three buses store the flights in a journal. A reader leaves and comes back;"
          + " the bus that leads is killed while events are published, and started again; a reader"
          + " comes late. Ends with 0 only if no reader missed an event, got one twice or out of"
          + " order, and all buses have the same log; else with 4, or with 1 if a step fails.",
      "With --keep it compares nothing, replays the flights again and again until Ctrl-C, and"
          + " serves pages that show them, on this machine only. The bus stores the last events, in a"
          + " temporary directory: a page begins with the latest value of each flight."
    })
public final class DemoCommand implements Callable<Integer> {
  private static final Duration MIN_DURATION = Duration.ofSeconds(1);

  /** Minimum duration: load is smoothed over seconds, and must be high for a while. */
  private static final Duration MIN_OF_CLUSTER = Duration.ofSeconds(10);

  /** Minimum number of buses: of two, none may end without taking the majority with it. */
  private static final int FEWEST_OF_CLUSTER = 3;

  private static final int MAX_BUSES = 8;
  private static final Duration MAX_DURATION = Duration.ofHours(1);
  private static final Duration USUAL = Duration.ofSeconds(20);
  private static final Duration USUAL_DURABLE = Duration.ofSeconds(40);

  /**
   * Default duration: the sample is a month of 31 days, and a day is eight minutes, which people
   * can follow.
   */
  private static final Duration USUAL_KEPT = Duration.ofMinutes(31 * 8);

  private static final Duration MAX_KEPT = Duration.ofHours(24);

  private static final String STARTING = "Starting %d buses, each a process of its own";

  @Spec CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--buses",
      paramLabel = "COUNT",
      description = "How many buses: 1, or 3 to 8 (default: 1; with --durable 3).")
  @Nullable Integer givenBuses;

  @Option(
      names = "--durable",
      description = "Store the flights in a journal at 3 to 8 buses, and kill one of them.")
  boolean durable;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description =
          "How long the replay takes, 1s to 1h (default: 20s; with --durable 40s); with several"
              + " buses 10s at least; with --keep up to 24h (default: 248m, a day of the data in 8 minutes).")
  @Nullable Duration given;

  @Option(
      names = "--keep",
      description =
          "Keep the bus and the replay running, and serve the pages of examples/pages: a departures"
              + " board and a map.")
  boolean keep;

  @Option(
      names = "--data",
      paramLabel = "FILE",
      description =
          "Other data: gzipped lines of topic, key, time and payload with tabs between (default:"
              + " the sample in examples/flights).")
  @Nullable Path data;

  private final CliContext context;

  DemoCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    Duration usual = keep ? USUAL_KEPT : durable ? USUAL_DURABLE : USUAL;
    Duration duration = given != null ? given : usual;
    int buses = givenBuses != null ? givenBuses : durable ? FEWEST_OF_CLUSTER : 1;
    check(buses, duration);
    List<Flight> flights = Flights.read(data);
    if (durable) {
      return durable(buses, flights, duration);
    }
    if (buses > 1) {
      return cluster(buses, flights, duration);
    }
    if (keep) {
      new KeptDemo(context, flights, duration).run(this::start);
      return ExitCode.OK;
    }
    boolean good;
    try (RunningBus bus = start(Map.of())) {
      context
          .out()
          .line(
              "Bus on %s, administration on http://127.0.0.1:%d%nReplaying %,d flight events in %d s"
                  .formatted(bus.uri(), bus.adminPort(), flights.size(), duration.toSeconds()));
      DemoScreen screen = new DemoScreen(context.out(), context.terminal());
      try (Demo demo = new Demo(flights, duration, screen)) {
        good = demo.run(bus, context.colour());
      }
    }
    context
        .out()
        .line(
            good
                ? "\nEvery subscriber got exactly the events that the data says, in order."
                : "\nNOT every subscriber got exactly the events that the data says, in order.");
    return good ? ExitCode.OK : ExitCode.INTEGRITY;
  }

  private void check(int buses, Duration duration) {
    if (keep && durable) {
      throw new ParameterException(
          spec.commandLine(), "--keep: with --durable (expected: one of them)");
    }
    if (durable && buses == 1) {
      throw new ParameterException(
          spec.commandLine(), "--buses: 1 with --durable (expected: 3 to 8)");
    }
    if (keep && buses != 1) {
      throw new ParameterException(
          spec.commandLine(), "--keep: with --buses " + buses + " (expected: with one bus)");
    }
    if (buses != 1 && (buses < FEWEST_OF_CLUSTER || buses > MAX_BUSES)) {
      throw new ParameterException(
          spec.commandLine(), "--buses: " + buses + " (expected: 1, or 3 to 8)");
    }
    Duration max = keep ? MAX_KEPT : MAX_DURATION;
    Duration min = buses == 1 ? MIN_DURATION : MIN_OF_CLUSTER;
    if (duration.compareTo(min) < 0 || duration.compareTo(max) > 0) {
      throw new ParameterException(
          spec.commandLine(),
          "--duration: "
              + duration
              + " (expected: "
              + min.toSeconds()
              + "s to "
              + max.toHours()
              + "h)");
    }
  }

  private int cluster(int buses, List<Flight> flights, Duration duration)
      throws InterruptedException {
    ResultOutput out = context.out();
    DemoCast cast = new DemoCast(flights, duration);
    long capacity = cast.eventsPerSecond();
    out.line(STARTING.formatted(buses));
    long begun = System.nanoTime();
    try (DemoCluster cluster = DemoCluster.start(buses, capacity)) {
      tell(cluster);
      out.line(
          ("One cluster after %.1f s. Replaying %,d flight events in %d s; a bus is said to be able"
                  + " to receive and send %,d events a second")
              .formatted(
                  (System.nanoTime() - begun) / 1e9,
                  cast.flights().size(),
                  duration.toSeconds(),
                  capacity));
      DemoScreen screen = new DemoScreen(out, context.terminal());
      ClusterOutcome outcome;
      try (ClusterDemo demo = new ClusterDemo(cast, cluster, duration, screen, context.colour())) {
        outcome = demo.run();
      }
      if (!outcome.wrong().isEmpty()) {
        throw new CliFailure(
            outcome.whole() ? ExitCode.FAILED : ExitCode.INTEGRITY,
            String.join("\n", outcome.wrong()));
      }
    }
    out.line(
        "\nEvery subscriber got exactly the events that the data says, in order; clients went to"
            + " other buses, and one bus ended without any.");
    return ExitCode.OK;
  }

  private int durable(int buses, List<Flight> flights, Duration duration)
      throws InterruptedException {
    ResultOutput out = context.out();
    out.line(STARTING.formatted(buses));
    long begun = System.nanoTime();
    try (DemoCluster cluster = DemoCluster.startDurable(buses)) {
      tell(cluster);
      out.line(
          "One cluster after %.1f s. Replaying %,d flight events in %d s"
              .formatted((System.nanoTime() - begun) / 1e9, flights.size(), duration.toSeconds()));
      DemoScreen screen = new DemoScreen(out, context.terminal());
      DurableOutcome outcome;
      try (DurableDemo demo =
          new DurableDemo(flights, cluster, duration, screen, context.colour())) {
        outcome = demo.run();
      }
      if (!outcome.wrong().isEmpty()) {
        throw new CliFailure(ExitCode.INTEGRITY, String.join("\n", outcome.wrong()));
      }
      out.line("\n" + outcome.summary());
    }
    return ExitCode.OK;
  }

  private void tell(DemoCluster cluster) {
    for (DemoBus bus : cluster.buses()) {
      context
          .out()
          .line(
              "Bus %s on %s, administration on %s"
                  .formatted(bus.name(), bus.uri(), bus.address().admin()));
    }
  }

  private RunningBus start(Map<String, String> more) {
    Map<String, String> values =
        new HashMap<>(
            Map.of(
                "bus.name", "demo",
                "listen.host", "127.0.0.1",
                "listen.port", "0",
                "admin.port", "0",
                "timeouts.shutdown", "1s"));
    values.putAll(more);
    try {
      return context.launcher().start(ServerConfig.of(values));
    } catch (IOException e) {
      throw new CliFailure(ExitCode.FAILED, "The bus cannot start: " + Failures.describe(e), e);
    }
  }
}
