package io.eventbus.loadtest;

import io.eventbus.loadtest.report.MarkdownPage;
import io.eventbus.loadtest.report.Report;
import io.eventbus.loadtest.report.ResultTable;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.report.WholeFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes the figures of a document from result files. */
@Command(
    name = "page",
    description = {
      "Writes the figures of result files as Markdown: the targets that are reached and those that are"
          + " not, and the tables of each file with its command and machine.",
      "docs/benchmarks.md is made with: page out/*/results.json --into docs/benchmarks.md --medians"
          + " docs/benchmarks/medians.json"
    },
    mixinStandardHelpOptions = true)
final class PageCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "1..*",
      paramLabel = "FILE",
      description = "Files results.json of run, coordination or switch, under any name.")
  private List<Path> files = List.of();

  @Option(
      names = "--into",
      paramLabel = "DOCUMENT",
      description =
          "Takes the figures, between the lines '"
              + MarkdownPage.BEGIN
              + "' and '"
              + MarkdownPage.END
              + "' (default: standard output).")
  private @Nullable Path into;

  @Option(
      names = "--medians",
      paramLabel = "FILE",
      description = "Takes the medians of all files as JSON, a line for each workload and system.")
  private @Nullable Path medians;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    List<Report> reports = files.stream().map(file -> ReportCommand.read(file, spec)).toList();
    String figures =
        MarkdownPage.figures(reports.stream().map(ResultTable::chapter).toList(), link());
    if (medians != null) {
      ResultsJson.writeMedians(
          medians, reports.stream().flatMap(report -> report.summaries().stream()).toList());
    }
    if (into == null) {
      out.print(figures);
      out.flush();
      return LoadTestExitCode.OK;
    }
    try {
      WholeFile.write(into, MarkdownPage.into(Files.readString(into), figures));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "--into: " + into + ": " + e.getMessage(), e);
    }
    out.println("Written: " + into);
    out.flush();
    return LoadTestExitCode.OK;
  }

  /** Returns the path of the medians, seen from the document; empty for none. */
  private String link() {
    if (medians == null) {
      return "";
    }
    return into == null
        ? medians.toString()
        : into.toAbsolutePath().resolveSibling("").relativize(medians.toAbsolutePath()).toString();
  }
}
