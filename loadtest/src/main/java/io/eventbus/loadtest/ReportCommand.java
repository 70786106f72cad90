package io.eventbus.loadtest;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.loadtest.report.HtmlReport;
import io.eventbus.loadtest.report.Report;
import io.eventbus.loadtest.report.ResultTable;
import io.eventbus.loadtest.report.ResultsJson;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows results again: the tables, and the page with plots. */
@Command(
    name = "report",
    description = "Shows the tables of a result file again and writes its page with plots.",
    mixinStandardHelpOptions = true)
final class ReportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "FILE",
      description = "A results.json of run, coordination or switch, also of one that was stopped.")
  private Path file = Path.of("");

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Takes the page (default: report.html beside the result file).")
  private @Nullable Path html;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    Report report = read(file, spec);
    Path page = html == null ? file.resolveSibling("report.html") : html;
    HtmlReport.write(page, report);
    out.print(ResultTable.of(report));
    out.println("Written: " + page);
    out.flush();
    return LoadTestExitCode.OK;
  }

  /**
   * Reads a result file that was named on the command line.
   *
   * @throws ParameterException if it is none
   */
  static Report read(Path file, CommandSpec spec) {
    try {
      JsonNode tree = ResultsJson.read(file);
      if (!tree.has("workloads")) {
        throw new IOException("not of run, coordination or switch");
      }
      return ResultsJson.report(tree);
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "FILE: " + file + " (expected: a result file): " + e.getMessage(), e);
    }
  }
}
