package io.eventbus.cli;

import io.eventbus.cli.client.BenchCommand;
import io.eventbus.cli.client.BroadcastCommand;
import io.eventbus.cli.client.PublishCommand;
import io.eventbus.cli.client.RequestCommand;
import io.eventbus.cli.client.RespondCommand;
import io.eventbus.cli.client.ServicesCommand;
import io.eventbus.cli.client.SubscribeCommand;
import io.eventbus.cli.client.TunnelCommand;
import io.eventbus.cli.client.WorkCommand;
import io.eventbus.cli.cluster.BalanceCommands;
import io.eventbus.cli.cluster.ClusterRegistryCommand;
import io.eventbus.cli.cluster.JournalCommand;
import io.eventbus.cli.cluster.RevokeCommand;
import io.eventbus.cli.cluster.WhoamiCommand;
import io.eventbus.cli.config.ConfigCommand;
import io.eventbus.cli.demo.DemoCommand;
import io.eventbus.cli.permissions.PermissionsCommand;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Command {@code eventbus} itself, which only has subcommands. */
@Command(
    name = "eventbus",
    description = "An event bus over WebSocket: start one, publish, subscribe, call services.",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    versionProvider = VersionCommand.class,
    synopsisSubcommandLabel = "COMMAND",
    usageHelpAutoWidth = true,
    sortOptions = false,
    subcommands = {
      ServeCommand.class,
      PublishCommand.class,
      SubscribeCommand.class,
      WorkCommand.class,
      RequestCommand.class,
      BroadcastCommand.class,
      RespondCommand.class,
      ServicesCommand.class,
      TunnelCommand.class,
      BenchCommand.class,
      DemoCommand.class,
      ConfigCommand.class,
      HashPasswordCommand.class,
      PermissionsCommand.class,
      ClusterRegistryCommand.class,
      BalanceCommands.Buses.class,
      BalanceCommands.Drain.class,
      BalanceCommands.Move.class,
      RevokeCommand.class,
      JournalCommand.class,
      WhoamiCommand.class,
      VersionCommand.class,
      GenerateCompletion.class,
      HelpCommand.class
    },
    exitCodeListHeading = "%nExit codes:%n")
final class EventBusCommand implements Runnable {
  @Mixin CommonOptions common = new CommonOptions();

  @Spec CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "a command is missing (expected: " + String.join(", ", spec.subcommands().keySet()) + ")");
  }
}
