package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.eventbus.EventBusDriver;
import io.eventbus.loadtest.driver.eventbus.SwitchingBuses;
import io.eventbus.loadtest.report.HtmlReport;
import io.eventbus.loadtest.report.Machine;
import io.eventbus.loadtest.report.Report;
import io.eventbus.loadtest.report.ResultTable;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.switching.run.SwitchExperiments;
import io.eventbus.loadtest.switching.run.SwitchExperiments.Kind;
import io.eventbus.loadtest.switching.run.SwitchPlan;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes clients change the bus while events flow, and says how long they waited. */
@Command(
    name = "switch",
    description =
        "Sends clients from bus to bus, and drains, restarts and kills buses, while events flow.",
    mixinStandardHelpOptions = true)
final class SwitchCommand implements Callable<Integer> {
  private final Clock clock = Clock.systemUTC();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "0..*",
      paramLabel = "EXPERIMENT",
      description = "Any of one, hot-topic, drain, rolling-restart, kill (default: all).")
  private List<String> words = List.of();

  @Mixin private SwitchOptions options = new SwitchOptions();

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Kind> kinds;
    SwitchPlan plan;
    try {
      kinds = words.isEmpty() ? List.of(Kind.values()) : words.stream().map(Kind::of).toList();
      plan = options.plan();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    PrintWriter out = spec.commandLine().getOut();
    String startedAt = clock.instant().toString();
    String version = new EventBusDriver(List.of()).availability().detail();
    List<Workload> workloads =
        kinds.stream().flatMap(k -> SwitchExperiments.workloads(k, plan).stream()).toList();
    List<RunResult> results = new ArrayList<>();
    Files.createDirectories(options.output());
    Report report = report(startedAt, workloads, results);
    for (Kind kind : kinds) {
      results.addAll(
          SwitchExperiments.play(
              kind,
              plan,
              count -> SwitchingBuses.start(count, options.serverJvm(), options.settings()),
              line -> tell(out, line),
              version));
      report = report(startedAt, workloads, results);
      // Later experiments may fail.
      ResultsJson.write(json(), report);
      HtmlReport.write(html(), report);
    }
    out.print(ResultTable.of(report));
    tell(out, "Written: " + json() + " and " + html());
    return LoadTestExitCode.of(report.whole(), report.complete(), report.results().isEmpty());
  }

  private List<String> arguments() {
    return spec.commandLine().getParseResult().originalArgs();
  }

  private Report report(String startedAt, List<Workload> workloads, List<RunResult> results) {
    String command = "loadtest " + String.join(" ", arguments());
    return new Report(
        startedAt, command, Machine.here(), workloads.size(), List.of(), workloads, results);
  }

  private static void tell(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }

  private Path json() {
    return options.output().resolve("results.json");
  }

  private Path html() {
    return options.output().resolve("report.html");
  }
}
