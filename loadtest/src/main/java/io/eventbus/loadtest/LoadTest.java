package io.eventbus.loadtest;

import io.eventbus.loadtest.workload.WorkloadException;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command: {@code java -jar loadtest.jar --help}. */
@Command(
    name = "loadtest",
    description = "Runs the same work against an event bus and its peers, and compares.",
    mixinStandardHelpOptions = true,
    versionProvider = LoadTest.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      " 0:everything ran and every event or command is accounted for",
      " 1:a run did not come to its end",
      " 2:wrong arguments, or a wrong workload file",
      " 3:a system is absent and nothing ran",
      " 4:events were lost, doubled, reordered or foreign, or commands lost or doubled"
    },
    footer = {
      "",
      "Examples:",
      "  loadtest run smoke",
      "  loadtest run one-to-one/128B fan-out --runs 5 --output results",
      "  loadtest report results/results.json",
      "  loadtest run federation-hop --drivers eventbus,nats",
      "  loadtest switch one drain --output results",
      "  loadtest coordination table --servers 3 --output results",
      "  loadtest attack ping-flood-20 --seconds 5",
      "  loadtest journal-store --mode blob --journals 100 --total 3GiB --retain 512MiB",
      "  loadtest journal-shard --frame 64 --seconds 20",
      "  loadtest jmh CodecBenchmark -p batch=100 -prof gc"
    })
public final class LoadTest implements Runnable {
  private static final String LOGBACK = "logback.configurationFile";

  @Spec private CommandSpec spec = CommandSpec.create();

  private LoadTest() {}

  /** Runs the command and ends the JVM with its exit code. */
  public static void main(String[] args) {
    if (System.getProperty(LOGBACK) == null) {
      // The bus's jar has a configuration for the bus.
      System.setProperty(LOGBACK, "loadtest-logback.xml");
    }
    System.exit(commandLine(new Drivers()).execute(args));
  }

  static CommandLine commandLine(Drivers drivers) {
    CommandLine line = new CommandLine(new LoadTest());
    line.addSubcommand(new RunCommand(drivers));
    line.addSubcommand(new RunsCommand(drivers));
    line.addSubcommand(new ListCommand(drivers));
    line.addSubcommand(new ReportCommand());
    line.addSubcommand(new PageCommand());
    line.addSubcommand(new ChartCommand());
    line.addSubcommand(new SwitchCommand());
    line.addSubcommand(new CoordinationCommand(drivers));
    line.addSubcommand(new AttackCommand());
    line.addSubcommand(new JournalStoreCommand());
    line.addSubcommand(new JournalShardCommand());
    line.addSubcommand(new FaultsCommand());
    line.addSubcommand(new JmhCommand());
    line.setExecutionExceptionHandler(
        (failure, commandLine, parsed) -> {
          if (failure instanceof WorkloadException) {
            commandLine.getErr().println(failure.getMessage());
            return LoadTestExitCode.USAGE;
          }
          if (failure instanceof IOException) {
            commandLine.getErr().println(failure);
            return LoadTestExitCode.FAILED;
          }
          throw failure;
        });
    return line;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "command: absent (expected: run, switch, coordination, attack, faults, journal-store,"
            + " journal-shard, report, page, chart, list or jmh)");
  }

  /** The version of the jar. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = LoadTest.class.getPackage().getImplementationVersion();
      return List.of("loadtest " + (version == null ? "(not from a jar)" : version))
          .toArray(new String[0]);
    }
  }
}
