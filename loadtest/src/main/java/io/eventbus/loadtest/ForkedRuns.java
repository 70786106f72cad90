package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.JavaCommand;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.run.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Makes each run in a JVM of its own, so that no system leaves compiled code, threads or garbage to
 * the next one's client.
 */
final class ForkedRuns implements RunExecutor {
  private static final long SPARE_SECONDS = 180;

  private final RunOptions options;
  private final List<String> clientJvm;
  private final Clock clock;

  ForkedRuns(RunOptions options, List<String> clientJvm, Clock clock) {
    this.options = options;
    this.clientJvm = new ArrayList<>(clientJvm);
    this.clientJvm.addAll(Programs.jvmOptions());
    this.clock = clock;
  }

  @Override
  public RunResult execute(PlannedRun planned) throws IOException, InterruptedException {
    Path result = Files.createTempFile("loadtest-", ".json");
    try {
      Process process =
          new ProcessBuilder(
                  JavaCommand.of(clientJvm, LoadTest.class.getName(), arguments(planned, result)))
              .inheritIO()
              .start();
      int exit = awaitWithHook(process, planned);
      if (exit != 0 || Files.size(result) == 0) {
        return RunResult.failed(
            planned.workload().name(),
            planned.driver(),
            planned.version(),
            planned.run(),
            clock.instant().toString(),
            "the load generator ended with " + exit + " and gave no result");
      }
      return ResultsJson.readRun(result);
    } finally {
      Files.deleteIfExists(result);
    }
  }

  private List<String> arguments(PlannedRun planned, Path result) {
    List<String> arguments = new ArrayList<>(options.arguments());
    arguments.add(0, "one-run");
    arguments.add("--from=" + planned.from());
    arguments.add("--workload=" + planned.workload().name());
    arguments.add("--driver=" + planned.driver());
    arguments.add("--version-found=" + planned.version());
    arguments.add("--run=" + planned.run());
    arguments.add("--result=" + result);
    return arguments;
  }

  private static int awaitWithHook(Process process, PlannedRun planned)
      throws InterruptedException {
    // Whoever stops this process stops the run too; its own hook then ends the server.
    Thread hook = new Thread(process::destroy, "end-run");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      return await(process, planned);
    } finally {
      removeHook(hook);
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending and runs the hook itself.
      return;
    }
  }

  private static int await(Process process, PlannedRun planned) throws InterruptedException {
    long seconds =
        planned.workload().warmUp().plus(planned.workload().duration()).toSeconds() + SPARE_SECONDS;
    try {
      if (process.waitFor(seconds, TimeUnit.SECONDS)) {
        return process.exitValue();
      }
      return -1;
    } finally {
      // Its shutdown hook ends the server; by force it could not.
      process.destroy();
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    }
  }
}
