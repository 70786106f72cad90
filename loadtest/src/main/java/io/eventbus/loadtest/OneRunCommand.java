package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.run.WorkloadRun;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** One run in a JVM of its own: what {@link ForkedRuns} starts. */
@Command(name = "one-run", hidden = true, description = "Makes one run and writes its result.")
final class OneRunCommand implements Callable<Integer> {
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

  @Option(names = "--run", required = true)
  private int run;

  @Option(names = "--result", required = true)
  private Path result = Path.of("");

  OneRunCommand(Drivers drivers) {
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
    ResultsJson.writeRun(result, workloadRun.run(run, version, Clock.systemUTC()));
    progress.clear();
    return ExitCode.OK;
  }
}
