package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.run.WorkloadRun;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs one system and its clients in the process that {@link RunProcess} starts. The number of each
 * run that it is to make comes in a line of the standard input; when that ends, so does the
 * command.
 */
@Command(name = "runs", hidden = true, description = "Makes runs and writes their results.")
final class RunsCommand implements Callable<Integer> {
  private final Drivers drivers;
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private RunOptions options = new RunOptions();

  @Option(names = "--from", required = true)
  private String from = "";

  @Option(names = "--workload", required = true)
  private String name = "";

  @Option(names = "--driver", required = true)
  private String driverName = "";

  @Option(names = "--version-found", required = true)
  private String version = "";

  @Option(names = "--result", required = true)
  private Path result = Path.of("");

  RunsCommand(Drivers drivers) {
    this.drivers = drivers;
  }

  @Override
  public Integer call() throws Exception {
    Workload workload =
        Workloads.shipped().select(from).stream()
            .filter(w -> w.name().equals(name))
            .findFirst()
            .map(options::apply)
            .orElseThrow();
    Driver driver = options.driver(drivers, driverName);
    ProgressLine progress = new ProgressLine(spec.commandLine().getErr());
    WorkloadRun workloadRun = new WorkloadRun(driver, workload, progress);
    BufferedReader numbers =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    workloadRun.run(
        version,
        Clock.systemUTC(),
        new WorkloadRun.Rounds() {
          @Override
          public int next() {
            progress.clear();
            return number(numbers);
          }

          @Override
          public void done(RunResult found) {
            progress.clear();
            write(found);
          }
        });
    return LoadTestExitCode.OK;
  }

  private static int number(BufferedReader numbers) {
    try {
      String line = numbers.readLine();
      return line == null ? 0 : Integer.parseInt(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(RunResult found) {
    try {
      ResultsJson.writeRun(result, found);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
