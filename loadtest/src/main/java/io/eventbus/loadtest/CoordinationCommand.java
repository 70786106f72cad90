package io.eventbus.loadtest;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.report.CoordinationJson;
import io.eventbus.loadtest.coordination.report.CoordinationPage;
import io.eventbus.loadtest.coordination.report.CoordinationReport;
import io.eventbus.loadtest.coordination.report.CoordinationTable;
import io.eventbus.loadtest.coordination.run.Experiment;
import io.eventbus.loadtest.coordination.run.Findings;
import io.eventbus.loadtest.coordination.run.Plan;
import io.eventbus.loadtest.driver.Availability;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares the registry with other systems that keep small data safe on several servers. */
@Command(
    name = "coordination",
    description = "Compares the registry with ZooKeeper and etcd.",
    mixinStandardHelpOptions = true)
final class CoordinationCommand implements Callable<Integer> {
  private final CoordinationSystems known;
  private final Clock clock = Clock.systemUTC();
  @Spec private CommandSpec spec = CommandSpec.create();

  /** What can be done, in the order of the paper. */
  enum Kind {
    /** Closed-loop clients. */
    TABLE,
    /** Servers are killed. */
    FAILURES,
    /** Many commands in flight. */
    PIPELINED,
    /** Conditional writes. */
    TRANSACTIONS,
    /** The leader is killed many times. */
    LEADER_KILLS,
    /** Joining, and when changes are visible. */
    VISIBILITY;

    static Kind of(String word) {
      for (Kind kind : values()) {
        if (kind.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(word)) {
          return kind;
        }
      }
      throw new IllegalArgumentException(
          "EXPERIMENT: "
              + word
              + " (expected: table, failures, pipelined, transactions, leader-kills or visibility)");
    }
  }

  @Parameters(
      arity = "0..*",
      paramLabel = "EXPERIMENT",
      description =
          "Any of table, failures, pipelined, transactions, leader-kills, visibility (default: all).")
  private List<String> words = List.of();

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

  CoordinationCommand(CoordinationSystems known) {
    this.known = known;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    List<Kind> kinds = kinds();
    Plan plan = plan();
    String startedAt = clock.instant().toString();
    Map<String, String> versions = new LinkedHashMap<>();
    Map<String, String> absent = new LinkedHashMap<>();
    List<CoordinationSystem> present = new ArrayList<>();
    for (CoordinationSystem system : chosen()) {
      Availability found = system.availability();
      if (found.present()) {
        present.add(system);
        versions.put(system.name(), found.detail());
      } else {
        absent.put(system.name(), found.detail());
        out.println(system.name() + ": absent: " + found.detail());
      }
    }
    Findings findings = new Findings();
    Path directory = Files.createTempDirectory(data, "loadtest-coordination-");
    String disk = disk(directory);
    try {
      run(kinds, new Experiment(present, plan, directory, line -> tell(out, line), findings));
    } finally {
      delete(directory);
    }
    CoordinationReport report =
        CoordinationReport.of(
            startedAt,
            "loadtest coordination " + String.join(" ", arguments()),
            disk,
            versions,
            absent,
            plan,
            findings);
    write(report, out);
    return exitCode(report);
  }

  private Plan plan() {
    try {
      return new Plan(
          servers,
          clients,
          payload,
          seconds(warmUp),
          seconds(duration),
          rounds,
          pipelines,
          inFlight,
          seconds(pipelinedDuration),
          kills,
          changes);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private static Duration seconds(double seconds) {
    return Duration.ofMillis(Math.round(seconds * 1_000));
  }

  private List<CoordinationSystem> chosen() {
    try {
      return names.stream()
          .distinct()
          .map(name -> known.create(name, RunOptions.words(serverJvm)))
          .toList();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private List<String> arguments() {
    return spec.commandLine().getParseResult().originalArgs();
  }

  private List<Kind> kinds() {
    try {
      return words.isEmpty() ? List.of(Kind.values()) : words.stream().map(Kind::of).toList();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private static void run(List<Kind> kinds, Experiment experiment) throws InterruptedException {
    for (Kind kind : kinds) {
      switch (kind) {
        case TABLE -> experiment.table();
        case FAILURES -> experiment.failures();
        case PIPELINED -> experiment.pipelined();
        case TRANSACTIONS -> experiment.transactions();
        case LEADER_KILLS -> experiment.leaderKills();
        case VISIBILITY -> experiment.visibility();
      }
    }
  }

  private static void tell(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }

  private static String disk(Path directory) throws IOException {
    FileStore store = Files.getFileStore(directory);
    return store.name() + " (" + store.type() + ")";
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  private void write(CoordinationReport report, PrintWriter out) throws IOException {
    out.print(CoordinationTable.of(report));
    Files.createDirectories(output);
    Path json = output.resolve("results.json");
    Path html = output.resolve("report.html");
    CoordinationJson.write(json, report);
    CoordinationPage.write(html, report);
    out.println("Written: " + json + " and " + html);
    out.flush();
  }

  private static int exitCode(CoordinationReport report) {
    return ExitCode.of(report.whole(), report.complete(), report.phases().isEmpty());
  }
}
