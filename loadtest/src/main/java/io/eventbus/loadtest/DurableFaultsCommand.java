package io.eventbus.loadtest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.faults.buses.BusNetwork;
import io.eventbus.loadtest.faults.buses.LoopDisk;
import io.eventbus.loadtest.faults.run.DurableFaultPlan;
import io.eventbus.loadtest.faults.run.DurableFaultResult;
import io.eventbus.loadtest.faults.run.DurableFaultRun;
import io.eventbus.loadtest.faults.run.DurableFaultTable;
import io.eventbus.loadtest.faults.run.FaultKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Durable topics under faults. */
@Command(
    name = "durable",
    description = {
      "Runs buses with durable topics under faults, and judges what their clients were told.",
      "Example: loadtest faults durable --replicas 3 --faults kill-leader,pause --seed 7"
    },
    mixinStandardHelpOptions = true)
final class DurableFaultsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private FaultOptions options = new FaultOptions();

  @Option(
      names = "--replicas",
      paramLabel = "BUSES",
      description = "1 or 3 buses (default: ${DEFAULT-VALUE}).")
  private int replicas = 1;

  @Option(
      names = "--faults",
      split = ",",
      paramLabel = "FAULT",
      description =
          "Any of kill, kill-leader, kill-all, pause, slow-fsync, full-disk, power-loss,"
              + " power-loss-all, partition, drain, failing-fsync, bit-flip; those of disks and partition need root"
              + " (default: ${DEFAULT-VALUE}).")
  private List<String> faults = List.of("kill", "kill-leader", "kill-all", "pause");

  @Option(names = "--seed", description = "Number that makes the plan (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(names = "--seconds", description = "Time with faults (default: ${DEFAULT-VALUE}).")
  private double seconds = 60;

  @Option(
      names = "--rate",
      paramLabel = "EVENTS",
      description = "Events a second of all publishers, about (default: ${DEFAULT-VALUE}).")
  private int rate = 500;

  @Option(names = "--json", paramLabel = "FILE", description = "Where the result is written.")
  private @Nullable Path json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    DurableFaultPlan plan;
    Path directory = options.directory("loadtest-faults-");
    boolean good = false;
    try {
      plan = plan(directory);
      out.printf(
          "%d buses, seed %d, %s s of %s%n", replicas, seed, seconds, String.join(", ", faults));
      DurableFaultResult result = DurableFaultRun.run(plan, FaultOptions.lines(out));
      out.print(DurableFaultTable.of(result));
      write(result);
      good = result.isGood();
      return good ? LoadTestExitCode.OK : LoadTestExitCode.FAILED;
    } catch (ParameterException e) {
      good = true;
      throw e;
    } catch (DriverException e) {
      spec.commandLine().getErr().println(e.getMessage());
      return LoadTestExitCode.FAILED;
    } finally {
      if (good) {
        Directories.delete(directory);
      } else {
        out.println("Logs: " + directory);
      }
      out.flush();
    }
  }

  private DurableFaultPlan plan(Path directory) {
    try {
      DurableFaultPlan plan =
          new DurableFaultPlan(
              replicas,
              faults.stream().map(FaultKind::of).toList(),
              seed,
              Seconds.of("--seconds", seconds, 1, 86_400),
              rate,
              options.jar(),
              options.serverJvm(),
              directory);
      boolean disks = plan.needs(FaultKind.Need.DISKS) || plan.needs(FaultKind.Need.FAILING_DISKS);
      String lacks = disks ? LoopDisk.lacks() : "";
      if (!lacks.isEmpty()) {
        throw new IllegalArgumentException("--faults: disks (expected: " + lacks + ")");
      }
      lacks = plan.needs(FaultKind.Need.NETWORK) ? BusNetwork.lacks() : "";
      if (!lacks.isEmpty()) {
        throw new IllegalArgumentException("--faults: partition (expected: " + lacks + ")");
      }
      return plan;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private void write(DurableFaultResult result) throws IOException {
    if (json != null) {
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .writeValue(json.toFile(), result);
    }
  }
}
