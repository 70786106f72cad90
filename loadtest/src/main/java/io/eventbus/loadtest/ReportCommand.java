package io.eventbus.loadtest;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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
      description = "A results.json of run, switch or coordination, also of one that was stopped.")
  private Path file = Path.of("");

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Takes the page (default: report.html beside the result file).")
  private @Nullable Path html;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    ResultFile results = ResultFile.read(file, spec);
    Path page = html == null ? file.resolveSibling("report.html") : html;
    results.writePage(page);
    out.print(results.tables());
    out.println("Written: " + page);
    out.flush();
    return LoadTestExitCode.OK;
  }
}
