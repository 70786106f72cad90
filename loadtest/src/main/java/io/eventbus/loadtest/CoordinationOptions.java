package io.eventbus.loadtest;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.Placement;
import io.eventbus.loadtest.coordination.run.Plan;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How the registry is compared with other systems. */
final class CoordinationOptions {
  private static final double MAX_RECOVERY = 5;
  private static final double MIN = 0.1;
  private static final double MAX = 3_600;

  @Option(
      names = {"--system", "--systems"},
      split = ",",
      paramLabel = "NAME",
      description = "Systems to measure (default: ${DEFAULT-VALUE}).")
  private List<String> names = new ArrayList<>(List.of("eventbus", "zookeeper", "etcd"));

  @Option(
      names = "--servers",
      split = ",",
      description = "Sizes of clusters (default: ${DEFAULT-VALUE}).")
  private List<Integer> servers = new ArrayList<>(List.of(1, 3, 5));

  @Option(
      names = "--clients",
      split = ",",
      description = "Numbers of closed-loop clients (default: ${DEFAULT-VALUE}).")
  private List<Integer> clients = new ArrayList<>(List.of(1, 5, 10, 25));

  @Option(
      names = "--payload",
      paramLabel = "BYTES",
      description = "Size of a command (default: ${DEFAULT-VALUE}).")
  private int payload = 120;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description = "Load on each system before anything is measured (default: ${DEFAULT-VALUE}).")
  private double warmUp = 40;

  @Option(
      names = "--duration",
      paramLabel = "SECONDS",
      description = "Length of each measured phase (default: ${DEFAULT-VALUE}).")
  private double duration = 5;

  @Option(
      names = "--rounds",
      description = "How often each cell is measured (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Option(
      names = "--pipelines",
      description = "Clients of the pipelined experiment (default: ${DEFAULT-VALUE}).")
  private int pipelines = 10;

  @Option(
      names = "--in-flight",
      description = "Commands in flight of each of them (default: ${DEFAULT-VALUE}).")
  private int inFlight = 32;

  @Option(
      names = "--pipelined-duration",
      paramLabel = "SECONDS",
      description = "Length of its phase; 600 for the long run (default: ${DEFAULT-VALUE}).")
  private double pipelinedDuration = 20;

  @Option(
      names = "--kills",
      description = "How often the leader is killed (default: ${DEFAULT-VALUE}).")
  private int kills = 20;

  @Option(
      names = "--recovery-warm-up",
      paramLabel = "SECONDS",
      description =
          "Load after servers were started again, which is not measured (default: that of --warm-up,"
              + " at most 5).")
  private @Nullable Double recovery;

  @Option(
      names = "--placement",
      paramLabel = "WHERE",
      description =
          "leader: all clients of all systems talk to the server that leads; spread: over the"
              + " servers, except for what the registry's clients write, which goes to the leader's"
              + " process as from a bus (default: leader, and spread where servers are killed).")
  private String placement = "";

  @Option(
      names = "--changes",
      description = "How many changes are watched for on every bus (default: ${DEFAULT-VALUE}).")
  private int changes = 1_000;

  @Option(
      names = "--server-jvm",
      paramLabel = "OPTIONS",
      description =
          "Options of the JVM of each server that runs on one, separated by spaces (default:"
              + " ${DEFAULT-VALUE}).")
  private String serverJvm = "-Xmx512m";

  @Option(
      names = "--data",
      paramLabel = "DIRECTORY",
      description =
          "Takes the servers' data, on the disk that is to be measured; emptied at the end"
              + " (default: the system's temporary directory).")
  private Path data = Path.of(System.getProperty("java.io.tmpdir"));

  @Option(
      names = "--output",
      paramLabel = "DIRECTORY",
      description = "Takes results.json and report.html (default: ${DEFAULT-VALUE}).")
  private Path output = Path.of("results");

  /**
   * Puts the plan together.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  Plan plan() {
    return new Plan(
        servers,
        clients,
        payload,
        Seconds.of("--warm-up", warmUp, MIN, MAX),
        Seconds.of("--duration", duration, MIN, MAX),
        rounds,
        pipelines,
        inFlight,
        Seconds.of("--pipelined-duration", pipelinedDuration, MIN, MAX),
        kills,
        changes,
        Seconds.of(
            "--recovery-warm-up",
            recovery == null ? Math.min(warmUp, MAX_RECOVERY) : recovery,
            0,
            MAX),
        placement());
  }

  private @Nullable Placement placement() {
    return switch (placement) {
      case "" -> null;
      case "leader" -> Placement.LEADER;
      case "spread" -> Placement.SPREAD;
      default ->
          throw new IllegalArgumentException(
              "--placement: " + placement + " (expected: leader or spread)");
    };
  }

  /**
   * Returns the systems that were asked for.
   *
   * @throws IllegalArgumentException if there is none of a name
   */
  List<CoordinationSystem> chosen(CoordinationSystems known) {
    return names.stream()
        .distinct()
        .map(name -> known.create(name, RunOptions.words(serverJvm)))
        .toList();
  }

  Path data() {
    return data;
  }

  Path output() {
    return output;
  }
}
