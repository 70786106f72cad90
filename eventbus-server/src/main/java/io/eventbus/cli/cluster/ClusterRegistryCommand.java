package io.eventbus.cli.cluster;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Operators' commands for the registry of a cluster. */
@Command(
    name = "registry",
    description = {
      "Shows and changes the registry of a cluster.",
      "restore and recover work on the directory of a bus that does not run; everything else asks"
          + " the administration port of a running bus, any one of the cluster."
    },
    subcommands = {
      RegistryShow.Status.class,
      RegistryShow.Members.class,
      RegistryShow.Leader.class,
      RegistryShow.Watch.class,
      RegistryEdit.Transfer.class,
      RegistryEdit.Add.class,
      RegistryEdit.Remove.class,
      RegistryEdit.Promote.class,
      RegistryEdit.Demote.class,
      RegistryEdit.Snapshot.class,
      RegistryBackup.class,
      RegistryOffline.Restore.class,
      RegistryOffline.Recover.class
    })
public final class ClusterRegistryCommand implements Runnable {
  @Spec CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "a command is missing: " + String.join(", ", commands()));
  }

  private Iterable<String> commands() {
    return spec.subcommands().keySet();
  }
}
