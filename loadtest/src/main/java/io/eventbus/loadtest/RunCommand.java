package io.eventbus.loadtest;

import io.eventbus.loadtest.coordination.run.Disk;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.report.Baseline;
import io.eventbus.loadtest.report.HtmlReport;
import io.eventbus.loadtest.report.Machine;
import io.eventbus.loadtest.report.Report;
import io.eventbus.loadtest.report.ResultTable;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.run.WorkloadRun;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs workloads against systems, in turn, and reports. */
@Command(
    name = "run",
    description = "Runs workloads and compares the systems.",
    mixinStandardHelpOptions = true)
final class RunCommand implements Callable<Integer> {
  private static final int MAX_RUNS = 1_000;

  private final Drivers drivers;
  private final Clock clock = Clock.systemUTC();
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private RunOptions options = new RunOptions();

  @Parameters(
      arity = "0..*",
      paramLabel = "WORKLOAD",
      description =
          "A workload (one-to-one/128B), a family (one-to-one), 'smoke', 'all', or a file .yaml.")
  private List<String> words = List.of();

  @Option(names = "--all", description = "All workloads, as the word 'all'.")
  private boolean all;

  @Option(
      names = {"--driver", "--drivers"},
      split = ",",
      paramLabel = "NAME",
      description =
          "Systems to measure, several with commas, or 'all' (default: ${DEFAULT-VALUE}).")
  private List<String> driverNames = new ArrayList<>(List.of("eventbus"));

  @Option(names = "--runs", description = "Runs of each workload, instead of what it says.")
  private @Nullable Integer runs;

  @Option(
      names = "--output",
      paramLabel = "DIRECTORY",
      description = "Takes results.json and report.html (default: ${DEFAULT-VALUE}).")
  private Path output = Path.of("results");

  @Option(
      names = "--client-jvm",
      paramLabel = "OPTIONS",
      description = "Options of the load generator's JVM, separated by spaces.")
  private String clientJvm = "";

  @Option(
      names = "--in-process",
      description = "Make all runs in this JVM instead of one each; quicker, less even.")
  private boolean inProcess;

  @Option(
      names = "--keep",
      description =
          "Keep each system and its clients from one run of a workload to the next, at rest while"
              + " the others run: only the first run needs the whole warm-up, later ones a second."
              + " Workloads that count what a fresh system takes (idle, paper) start it anew.")
  private boolean keep;

  RunCommand(Drivers drivers) {
    this.drivers = drivers;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    checkArguments();
    Map<Workload, String> workloads = select();
    createOutput();
    PrintWriter out = spec.commandLine().getOut();
    for (String data : directories(workloads.keySet())) {
      Disk disk = Disk.of(Files.createDirectories(Path.of(data)));
      out.println("data on " + disk);
      if (!disk.warning().isEmpty()) {
        out.println("WARNING: " + disk.warning());
      }
    }
    String startedAt = clock.instant().toString();
    Map<String, String> versions = new LinkedHashMap<>();
    List<Report.AbsentDriver> absent = new ArrayList<>();
    for (String name : chosenDrivers()) {
      Availability found = options.driver(drivers, name).availability();
      if (found.present()) {
        versions.put(name, found.detail());
      } else {
        absent.add(new Report.AbsentDriver(name, found.detail()));
        out.println(name + ": absent: " + found.detail());
      }
    }
    RunPlan planned =
        new RunPlan(
            workloads,
            versions,
            runs == null && options.hasBaseline() ? Integer.valueOf(Baseline.MIN_PAIRS) : runs,
            (name, workload) -> options.driver(drivers, name).lacks(workload));
    planned.leftOut().forEach(out::println);
    List<PlannedRun> plan = planned.runs();
    String command = "loadtest " + String.join(" ", arguments());
    Machine machine = Machine.here();
    Function<List<RunResult>, Report> soFar =
        results ->
            new Report(
                startedAt,
                command,
                machine,
                plan.size(),
                absent,
                List.copyOf(workloads.keySet()),
                results);
    Report report = execute(plan, soFar, out);
    out.println();
    out.print(ResultTable.of(report));
    if (!report.results().isEmpty() || report.planned() == 0) {
      out.println("Written: " + json() + " and " + html());
    }
    out.flush();
    return LoadTestExitCode.of(report.whole(), report.complete(), report.results().isEmpty());
  }

  /** Returns where the events of durable topics are stored. */
  private static Set<String> directories(Set<Workload> workloads) {
    return workloads.stream()
        .map(Workload::durable)
        .filter(Objects::nonNull)
        .map(DurableTopic::data)
        .collect(Collectors.toSet());
  }

  private List<String> arguments() {
    return spec.commandLine().getParseResult().originalArgs();
  }

  /** Before anything runs: what takes hours is not to end with a directory that is not there. */
  private void createOutput() {
    try {
      Files.createDirectories(output);
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "--output: " + output + " (expected: a directory): " + e, e);
    }
    if (!Files.isWritable(output)) {
      throw new ParameterException(
          spec.commandLine(), "--output: " + output + " (expected: one that can be written to)");
    }
  }

  private List<String> chosenDrivers() {
    List<String> chosen =
        new ArrayList<>(driverNames.contains("all") ? drivers.names() : driverNames);
    if (options.hasBaseline()) {
      chosen.addAll(List.of(Baseline.OLD, Baseline.OLD_AGAIN));
    }
    return chosen.stream().distinct().toList();
  }

  private void checkArguments() {
    if (words.isEmpty() && !all) {
      throw new ParameterException(
          spec.commandLine(), "WORKLOAD: absent (expected: one, or --all)");
    }
    try {
      options.check();
      chosenDrivers().forEach(name -> options.driver(drivers, name));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    if (inProcess && keep) {
      throw new ParameterException(
          spec.commandLine(), "--keep: with --in-process (expected: one of them)");
    }
    if (runs != null && (runs < 1 || runs > MAX_RUNS)) {
      throw new ParameterException(
          spec.commandLine(), "--runs: " + runs + " (expected: 1.." + MAX_RUNS + ")");
    }
  }

  private Map<Workload, String> select() {
    Workloads shipped = Workloads.shipped();
    Map<Workload, String> chosen = new LinkedHashMap<>();
    List<String> chosenWords = new ArrayList<>(words);
    if (all) {
      chosenWords.add("all");
    }
    for (String word : chosenWords) {
      shipped.select(word).forEach(w -> chosen.putIfAbsent(options.apply(w), word));
    }
    return chosen;
  }

  /** Makes all runs; what there is so far is written after each: a later one may take hours. */
  private Report execute(
      List<PlannedRun> plan, Function<List<RunResult>, Report> soFar, PrintWriter out)
      throws IOException, InterruptedException {
    List<RunResult> results = new ArrayList<>();
    try (RunExecutor executor = executor()) {
      for (PlannedRun planned : plan) {
        out.printf(
            "%d of %d: %s, %s, run %d%n",
            results.size() + 1,
            plan.size(),
            planned.workload().name(),
            planned.driver(),
            planned.run());
        out.flush();
        RunResult result = executor.execute(planned);
        if (result == null) {
          out.println("Stopped.");
          return soFar.apply(results);
        }
        results.add(result);
        write(soFar.apply(results));
      }
    }
    Report whole = soFar.apply(results);
    if (plan.isEmpty()) {
      // The report says why.
      write(whole);
    }
    return whole;
  }

  private RunExecutor executor() {
    return inProcess
        ? this::runHere
        : new ForkedRuns(options, RunOptions.words(clientJvm), keep, clock);
  }

  private @Nullable RunResult runHere(PlannedRun planned) throws InterruptedException {
    ProgressLine progress = new ProgressLine(spec.commandLine().getErr());
    WorkloadRun run =
        new WorkloadRun(options.driver(drivers, planned.driver()), planned.workload(), progress);
    try {
      RunResult result = run.run(planned.run(), planned.version(), clock);
      return DriverStopHook.isStopping() ? null : result;
    } finally {
      progress.clear();
    }
  }

  private Path json() {
    return output.resolve("results.json");
  }

  private Path html() {
    return output.resolve("report.html");
  }

  private void write(Report report) throws IOException {
    ResultsJson.write(json(), report);
    HtmlReport.write(html(), report);
  }
}
