package io.eventbus.loadtest;

import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.report.Summary;
import io.eventbus.loadtest.report.ThroughputChart;
import io.eventbus.loadtest.report.WholeFile;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Draws medians for a document. */
@Command(
    name = "chart",
    description = {
      "Draws the deliveries per second of some workloads as SVG, a bar for each system.",
      "docs/images/throughput.svg is made with: chart docs/benchmarks/medians.json --into"
          + " docs/images/throughput.svg"
    },
    mixinStandardHelpOptions = true)
final class ChartCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      paramLabel = "FILE",
      description = "Medians, as page --medians writes them.")
  private Path file = Path.of("");

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "WORKLOAD",
      description = "Workloads to be drawn (default: ${DEFAULT-VALUE}).")
  private List<String> workloads =
      new ArrayList<>(
          List.of(
              "one-to-one/128B",
              "one-to-one/16KiB",
              "fan-out/100",
              "federation-hop/two-buses",
              "many-topics/one-subscriber",
              "many-topics/subscriber-per-topic"));

  @Option(names = "--into", paramLabel = "FILE", required = true, description = "Takes the chart.")
  private Path into = Path.of("");

  @Override
  public Integer call() throws IOException {
    List<Summary> summaries = medians();
    for (String workload : workloads) {
      if (summaries.stream().noneMatch(summary -> summary.workload().equals(workload))) {
        throw new ParameterException(
            spec.commandLine(), "WORKLOAD: " + workload + " (expected: one that " + file + " has)");
      }
    }
    Map<String, Workload> shipped =
        Workloads.shipped().all().stream()
            .collect(Collectors.toMap(Workload::name, Function.identity()));
    WholeFile.write(
        into, ThroughputChart.svg(summaries, workloads, name -> describe(shipped.get(name))));
    PrintWriter out = spec.commandLine().getOut();
    out.println("Written: " + into);
    out.flush();
    return LoadTestExitCode.OK;
  }

  private List<Summary> medians() {
    try {
      return ResultsJson.readMedians(file);
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "FILE: " + file + " (expected: medians): " + e.getMessage(), e);
    }
  }

  private static String describe(@Nullable Workload workload) {
    if (workload == null) {
      return "";
    }
    int servers = workload.cluster().servers();
    return count(workload.publishers(), "publisher")
        + ", "
        + count(workload.subscribers(), "subscriber")
        + ", "
        + count(workload.topics(), "topic")
        + ", "
        + (servers > 1 ? servers + " servers, " : "")
        + count(workload.payloadBytes(), "byte");
  }

  private static String count(int number, String what) {
    return String.format(Locale.ROOT, "%,d %s%s", number, what, number == 1 ? "" : "s");
  }
}
