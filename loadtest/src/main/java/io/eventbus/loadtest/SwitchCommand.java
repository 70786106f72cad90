package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.eventbus.EventBusDriver;
import io.eventbus.loadtest.driver.eventbus.SwitchingBuses;
import io.eventbus.loadtest.report.Machine;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.switching.report.SwitchPage;
import io.eventbus.loadtest.switching.report.SwitchReport;
import io.eventbus.loadtest.switching.report.SwitchTable;
import io.eventbus.loadtest.switching.run.SwitchExperiments;
import io.eventbus.loadtest.switching.run.SwitchExperiments.Kind;
import io.eventbus.loadtest.switching.run.SwitchPlan;
import io.eventbus.loadtest.switching.run.SwitchResult;
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
    String command = "loadtest " + String.join(" ", arguments());
    List<SwitchResult> results = new ArrayList<>();
    SwitchReport report = report(startedAt, command, plan, results);
    for (Kind kind : kinds) {
      results.addAll(
          SwitchExperiments.play(
              kind,
              plan,
              count -> SwitchingBuses.start(count, options.serverJvm(), options.settings()),
              line -> tell(out, line)));
      report = report(startedAt, command, plan, results);
      // What comes later may fail.
      write(report);
    }
    out.print(SwitchTable.of(report));
    tell(out, "Written: " + json() + " and " + html());
    return LoadTestExitCode.of(report.whole(), report.complete(), report.results().isEmpty());
  }

  private List<String> arguments() {
    return spec.commandLine().getParseResult().originalArgs();
  }

  private static SwitchReport report(
      String startedAt, String command, SwitchPlan plan, List<SwitchResult> results) {
    String version = new EventBusDriver(List.of()).availability().detail();
    return new SwitchReport(startedAt, Machine.here(), command, version, plan, results);
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

  private void write(SwitchReport report) throws IOException {
    Files.createDirectories(options.output());
    ResultsJson.write(json(), report, report.targets());
    SwitchPage.write(html(), report);
  }
}
