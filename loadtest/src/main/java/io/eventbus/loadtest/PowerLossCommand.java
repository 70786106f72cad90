package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.driver.eventbus.BusPower;
import io.eventbus.loadtest.driver.nats.JetStreamDriver;
import io.eventbus.loadtest.driver.nats.JetStreamPower;
import io.eventbus.loadtest.faults.buses.LoopDisk;
import io.eventbus.loadtest.faults.power.PowerLossResult;
import io.eventbus.loadtest.faults.power.PowerLossRun;
import io.eventbus.loadtest.faults.power.PowerSystem;
import io.eventbus.loadtest.report.TextTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Losses of power of several systems. */
@Command(
    name = "power-loss",
    description = {
      "Takes the power of servers' file systems, and counts the confirmed events that are gone.",
      "Needs root. Example: loadtest faults power-loss --drivers eventbus,jetstream --rounds 20"
    },
    mixinStandardHelpOptions = true)
final class PowerLossCommand implements Callable<Integer> {
  private static final int MAX_ROUNDS = 10_000;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private FaultOptions options = new FaultOptions();

  @Option(
      names = "--drivers",
      split = ",",
      paramLabel = "DRIVER",
      description = "Any of eventbus, jetstream, jetstream-always (default: ${DEFAULT-VALUE}).")
  private List<String> drivers = List.of("eventbus", "jetstream", "jetstream-always");

  @Option(
      names = "--rounds",
      description = "Losses of power of each system (default: ${DEFAULT-VALUE}).")
  private int rounds = 20;

  @Option(
      names = "--seed",
      description = "Number that makes the times (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<PowerSystem> systems = drivers.stream().map(this::system).toList();
    if (rounds < 1 || rounds > MAX_ROUNDS) {
      throw wrong("--rounds: " + rounds + " (expected: 1.." + MAX_ROUNDS + ")");
    }
    PrintWriter out = spec.commandLine().getOut();
    String lacks = LoopDisk.lacks();
    if (!lacks.isEmpty()) {
      out.println("No file systems in files here: " + lacks + " is missing");
      return LoadTestExitCode.ABSENT;
    }
    Path directory = options.directory("loadtest-power-loss-");
    List<PowerLossResult> results = new ArrayList<>();
    try {
      for (PowerSystem system : systems) {
        Availability found = system.availability();
        if (!found.present()) {
          out.println(system.name() + " is absent: " + found.detail());
          continue;
        }
        results.add(PowerLossRun.run(system, rounds, seed, directory, FaultOptions.lines(out)));
      }
    } finally {
      Directories.delete(directory);
    }
    out.print(table(results));
    out.flush();
    return exitCode(results);
  }

  private PowerSystem system(String driver) {
    return switch (driver) {
      case "eventbus" -> new BusPower(options.jar(), options.serverJvm());
      case "jetstream" -> new JetStreamPower(JetStreamDriver.Sync.DEFAULT);
      case "jetstream-always" -> new JetStreamPower(JetStreamDriver.Sync.ALWAYS);
      default ->
          throw wrong(
              "--drivers: " + driver + " (expected: eventbus, jetstream or jetstream-always)");
    };
  }

  private ParameterException wrong(String text) {
    return new ParameterException(spec.commandLine(), text);
  }

  private static String table(List<PowerLossResult> results) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "system", "version", "rounds", "confirmed", "lost", "rounds with loss", "ready, ms"));
    for (PowerLossResult result : results) {
      List<Long> ready = result.readyMillis().stream().sorted().toList();
      rows.add(
          List.of(
              result.system(),
              result.version(),
              Integer.toString(result.rounds()),
              Long.toString(result.confirmed()),
              Long.toString(result.lost()),
              Integer.toString(result.roundsWithLoss()),
              ready.isEmpty() ? "-" : ready.get(ready.size() / 2).toString()));
    }
    StringBuilder out = new StringBuilder();
    TextTable.write(out, rows, 2);
    for (PowerLossResult result : results) {
      if (!result.failure().isEmpty()) {
        out.append(result.system()).append(" failed: ").append(result.failure()).append('\n');
      }
    }
    return out.toString();
  }

  /** Only the bus has to lose nothing: the others are there to be compared with. */
  private static int exitCode(List<PowerLossResult> results) {
    if (results.isEmpty()) {
      return LoadTestExitCode.ABSENT;
    }
    boolean good =
        results.stream()
            .filter(result -> result.system().equals("eventbus"))
            .allMatch(result -> result.lost() == 0 && result.failure().isEmpty());
    return good ? LoadTestExitCode.OK : LoadTestExitCode.FAILED;
  }
}
