package io.eventbus.loadtest;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of {@link CoordinationCommand}. */
final class CoordinationOptions {
  /** Driver of this product's registry. */
  static final String REGISTRY = "registry";

  private static final double MAX_RECOVERY = 5;
  private static final double MIN_SECONDS = 0.1;
  private static final double MAX_SECONDS = 3_600;

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

  /** Returns the names of the drivers of the systems. */
  List<String> drivers() {
    return names.stream().map(name -> name.equals("eventbus") ? REGISTRY : name).toList();
  }

  /** Returns the keys of a workload. */
  Map<String, Object> variant(
      String name, double seconds, int runs, Map<String, Object> registers) {
    Map<String, Object> variant = new LinkedHashMap<>();
    variant.put("name", name);
    variant.put(
        "description",
        registers.get("servers") + " servers, " + registers.get("clients") + " clients");
    variant.put("duration", millis("--duration", seconds, MIN_SECONDS));
    variant.put("runs", runs);
    variant.put("registers", registers);
    return variant;
  }

  /** Returns the keys of registers; more may be added. */
  Map<String, Object> registers(int ofServers, int ofClients, String usualPlacement) {
    Map<String, Object> keys = new LinkedHashMap<>();
    keys.put("servers", ofServers);
    keys.put("clients", ofClients);
    keys.put("placement", placement.isEmpty() ? usualPlacement : placement);
    keys.put("recovery", millis("--recovery-warm-up", recoverySeconds(), 0));
    keys.put("data", data.toAbsolutePath().toString());
    return keys;
  }

  private double recoverySeconds() {
    return recovery == null ? Math.min(warmUp, MAX_RECOVERY) : recovery;
  }

  private static String millis(String option, double seconds, double min) {
    return Seconds.of(option, seconds, min, MAX_SECONDS).toMillis() + "ms";
  }

  List<Integer> servers() {
    return servers;
  }

  List<Integer> clients() {
    return clients;
  }

  int maxClients() {
    return clients.stream().mapToInt(Integer::intValue).max().orElse(1);
  }

  int payload() {
    return payload;
  }

  String warmUp() {
    return millis("--warm-up", warmUp, MIN_SECONDS);
  }

  double duration() {
    return duration;
  }

  int rounds() {
    return rounds;
  }

  int pipelines() {
    return pipelines;
  }

  int inFlight() {
    return inFlight;
  }

  double pipelinedDuration() {
    return pipelinedDuration;
  }

  int kills() {
    return kills;
  }

  int changes() {
    return changes;
  }

  String serverJvm() {
    return serverJvm;
  }

  Path data() {
    return data;
  }

  Path output() {
    return output;
  }
}
