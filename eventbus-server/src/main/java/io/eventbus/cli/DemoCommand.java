package io.eventbus.cli;

import io.eventbus.cli.BusLauncher.RunningBus;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows a bus at work on real data. */
@Command(
    name = "demo",
    description = {
      "Starts a bus on free ports of this machine and replays a month of flights through it, with"
          + " several publishers and subscribers.",
      "Ends with 0 only if every subscriber got exactly the events that the data says, in order;"
          + " else with 4."
    })
final class DemoCommand implements Callable<Integer> {
  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofHours(1);

  @Spec CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "20s",
      description = "How long the replay takes, 1s to 1h (default: ${DEFAULT-VALUE}).")
  Duration duration = Duration.ofSeconds(20);

  @Option(
      names = "--data",
      paramLabel = "FILE",
      description =
          "Other data: gzipped lines of topic, key, time and payload with tabs between (default:"
              + " the sample in examples/flights).")
  @Nullable Path data;

  private final Surroundings surroundings;

  DemoCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws Exception {
    if (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0) {
      throw new ParameterException(
          spec.commandLine(), "--duration: " + duration + " (expected: 1s to 1h)");
    }
    List<Flight> flights = Flights.read(data);
    boolean good;
    try (RunningBus bus = start()) {
      surroundings
          .out()
          .line(
              "Bus on %s, administration on http://127.0.0.1:%d%nReplaying %,d flight events in %d s"
                  .formatted(bus.uri(), bus.adminPort(), flights.size(), duration.toSeconds()));
      DemoScreen screen = new DemoScreen(surroundings.out(), surroundings.terminal());
      try (Demo demo = new Demo(flights, duration, screen)) {
        good = demo.run(bus, surroundings.colour());
      }
    }
    surroundings
        .out()
        .line(
            good
                ? "\nEvery subscriber got exactly the events that the data says, in order."
                : "\nNOT every subscriber got exactly the events that the data says, in order.");
    return good ? ExitCode.OK : ExitCode.INTEGRITY;
  }

  private RunningBus start() {
    Map<String, String> values =
        Map.of(
            "bus.name", "demo",
            "listen.host", "127.0.0.1",
            "listen.port", "0",
            "admin.port", "0",
            "timeouts.shutdown", "1s");
    try {
      return surroundings.launcher().start(ServerConfig.of(values));
    } catch (IOException e) {
      throw new CliFailure(ExitCode.FAILED, "The bus cannot start: " + Failures.describe(e), e);
    }
  }
}
