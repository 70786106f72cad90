package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.JavaCommand;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.run.WorkloadRun;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes runs in JVMs of their own, so that no system leaves compiled code, threads or garbage to
 * the next one's client: a new one for each run, or the same for all runs of a workload with a
 * system.
 */
final class ForkedRuns implements RunExecutor {
  private static final Duration SPARE = Duration.ofMinutes(3);

  /** Exit codes of a JVM that got SIGINT, for example by Ctrl-C, or SIGTERM. */
  private static final Set<Integer> STOPPED = Set.of(130, 143);

  private final RunOptions options;
  private final List<String> clientJvm;
  private final boolean keep;
  private final Clock clock;
  private final Map<String, RunProcess> kept = new LinkedHashMap<>();
  private @Nullable String keptFor;

  /** Creates it; starts nothing. */
  ForkedRuns(RunOptions options, List<String> clientJvm, boolean keep, Clock clock) {
    this.options = options;
    this.clientJvm = new ArrayList<>(clientJvm);
    this.clientJvm.addAll(Programs.jvmOptions());
    this.keep = keep;
    this.clock = clock;
  }

  @Override
  public @Nullable RunResult execute(PlannedRun planned) throws IOException, InterruptedException {
    String turns = planned.workload().turns();
    if (!turns.equals(keptFor)) {
      close();
      keptFor = turns;
    }
    String key = planned.workload().name() + " " + planned.driver();
    @Nullable RunProcess process = kept.remove(key);
    if (process == null) {
      process = start(planned);
      if (process == null) {
        return null;
      }
    }
    boolean goesOn = false;
    try {
      @Nullable RunResult found = process.run(planned.run(), deadline(planned));
      if (found == null && process.exitCode() == 0) {
        // The process ended in order after its last run, because not everything had arrived.
        process.close();
        @Nullable RunProcess next = start(planned);
        if (next == null) {
          return null;
        }
        process = next;
        found = process.run(planned.run(), deadline(planned));
      }
      if (DriverStopHook.isStopping() || (found == null && STOPPED.contains(process.exitCode()))) {
        return null;
      }
      RunResult result = found != null ? found : failed(planned, process.exitCode());
      goesOn = keep && result.problem() == null && WorkloadRun.canRepeat(planned.workload());
      return result;
    } finally {
      if (goesOn) {
        kept.put(key, process);
      } else {
        process.close();
      }
    }
  }

  /** Returns null if the load test is being stopped. */
  private @Nullable RunProcess start(PlannedRun planned) throws IOException {
    try {
      return RunProcess.start(command(planned));
    } catch (DriverException e) {
      if (DriverStopHook.isStopping()) {
        return null;
      }
      throw e;
    }
  }

  private static Duration deadline(PlannedRun planned) {
    return planned.workload().warmUp().plus(planned.workload().duration()).plus(SPARE);
  }

  private RunResult failed(PlannedRun planned, int exitCode) {
    return RunResult.failed(
        planned.workload().name(),
        planned.driver(),
        planned.version(),
        planned.run(),
        clock.instant().toString(),
        "the load generator gave no result (exit code: " + exitCode + ")");
  }

  private List<String> command(PlannedRun planned) {
    List<String> arguments = new ArrayList<>(options.arguments());
    arguments.add(0, "runs");
    arguments.add("--from=" + planned.from());
    arguments.add("--workload=" + planned.workload().name());
    arguments.add("--driver=" + planned.driver());
    arguments.add("--version-found=" + planned.version());
    return JavaCommand.of(clientJvm, LoadTest.class.getName(), arguments);
  }

  @Override
  public void close() {
    kept.values().forEach(RunProcess::close);
    kept.clear();
  }
}
