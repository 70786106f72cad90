package io.eventbus.loadtest;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Commands that break what runs, and judge what clients were told meanwhile. */
@Command(
    name = "faults",
    description = "Kills and pauses servers and takes their disks' power, and judges what follows.",
    subcommands = {DurableFaultsCommand.class, PowerLossCommand.class},
    mixinStandardHelpOptions = true)
final class FaultsCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "command: absent (expected: durable or power-loss)");
  }
}
