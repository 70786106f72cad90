package io.eventbus.loadtest;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.report.CoordinationPage;
import io.eventbus.loadtest.coordination.report.CoordinationReport;
import io.eventbus.loadtest.coordination.report.CoordinationTable;
import io.eventbus.loadtest.coordination.run.CoordinationExperiment;
import io.eventbus.loadtest.coordination.run.Disk;
import io.eventbus.loadtest.coordination.run.Findings;
import io.eventbus.loadtest.coordination.run.Plan;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.report.ResultsJson;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares the registry with other systems that keep small data safe on several servers. */
@Command(
    name = "coordination",
    description = "Compares the registry with ZooKeeper and etcd.",
    mixinStandardHelpOptions = true)
final class CoordinationCommand implements Callable<Integer> {
  /** More than a server that is asked to end has. */
  private static final long SERVERS_END_SECONDS = 12;

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

  @Mixin private CoordinationOptions options = new CoordinationOptions();

  CoordinationCommand(CoordinationSystems known) {
    this.known = known;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    List<Kind> kinds = checked(this::kinds);
    Plan plan = checked(options::plan);
    List<CoordinationSystem> chosen = checked(() -> options.chosen(known));
    String startedAt = clock.instant().toString();
    Map<String, String> versions = new LinkedHashMap<>();
    Map<String, String> absent = new LinkedHashMap<>();
    List<CoordinationSystem> present = new ArrayList<>();
    for (CoordinationSystem system : chosen) {
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
    Files.createDirectories(options.data());
    Path directory = Files.createTempDirectory(options.data(), "loadtest-coordination-");
    CoordinationExperiment experiment =
        new CoordinationExperiment(present, plan, directory, line -> tell(out, line), findings);
    CoordinationReport report;
    DriverStopHook hook = DriverStopHook.add("data", () -> deleteOnceServersEnded(directory, out));
    try {
      Disk disk = Disk.of(directory);
      tell(out, "data on " + disk);
      if (!disk.warning().isEmpty()) {
        tell(out, "WARNING: " + disk.warning());
      }
      Supplier<CoordinationReport> sofar =
          () ->
              CoordinationReport.of(
                  startedAt,
                  "loadtest " + String.join(" ", arguments()),
                  disk,
                  versions,
                  absent,
                  plan,
                  findings);
      for (Kind kind : kinds) {
        try {
          run(kind, experiment);
        } finally {
          // What comes later may take hours, or fail.
          write(sofar.get());
        }
      }
      report = sofar.get();
    } finally {
      delete(directory, out);
      hook.close();
    }
    out.print(CoordinationTable.of(report));
    tell(out, "Written: " + json() + " and " + html());
    return exitCode(report);
  }

  private <T> T checked(Supplier<T> input) {
    try {
      return input.get();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private List<String> arguments() {
    return spec.commandLine().getParseResult().originalArgs();
  }

  private List<Kind> kinds() {
    return words.isEmpty() ? List.of(Kind.values()) : words.stream().map(Kind::of).toList();
  }

  private static void run(Kind kind, CoordinationExperiment experiment)
      throws InterruptedException {
    switch (kind) {
      case TABLE -> experiment.table();
      case FAILURES -> experiment.failures();
      case PIPELINED -> experiment.pipelined();
      case TRANSACTIONS -> experiment.transactions();
      case LEADER_KILLS -> experiment.leaderKills();
      case VISIBILITY -> experiment.visibility();
    }
  }

  private static void tell(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }

  private static void delete(Path directory, PrintWriter out) {
    try {
      Directories.delete(directory);
    } catch (IOException e) {
      tell(out, directory + " is not emptied: " + e);
    }
  }

  /** Other hooks end the servers at the same time, and servers write until they have ended. */
  private static void deleteOnceServersEnded(Path directory, PrintWriter out) {
    try {
      CompletableFuture.allOf(
              ProcessHandle.current()
                  .children()
                  .map(ProcessHandle::onExit)
                  .toArray(CompletableFuture<?>[]::new))
          .get(SERVERS_END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      tell(out, "a server still runs: " + e);
    }
    delete(directory, out);
  }

  private Path json() {
    return options.output().resolve("results.json");
  }

  private Path html() {
    return options.output().resolve("report.html");
  }

  private void write(CoordinationReport report) throws IOException {
    Files.createDirectories(options.output());
    ResultsJson.write(json(), report);
    CoordinationPage.write(html(), report);
  }

  private static int exitCode(CoordinationReport report) {
    return LoadTestExitCode.of(report.whole(), report.complete(), report.phases().isEmpty());
  }
}
