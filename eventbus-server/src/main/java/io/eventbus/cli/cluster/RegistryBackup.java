package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.registry.Backup;
import io.eventbus.registry.codec.BackupFormat;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Keeps a copy of the registry in a file, and makes sure that it can be read. */
@Command(
    name = "backup",
    description =
        "Writes everything that was acknowledged before into one file, and checks that file.")
final class RegistryBackup implements Callable<Integer> {
  @Mixin RegistryOptions options = new RegistryOptions();

  @Parameters(paramLabel = "FILE", description = "The file, which must not be there yet.")
  Path file = Path.of("registry.backup");

  private final CliContext context;

  RegistryBackup(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    if (Files.exists(file)) {
      throw new CliFailure(
          ExitCode.USAGE, "FILE: " + file + " is there already (expected: a new file)");
    }
    Path part = Path.of(file + ".part");
    try {
      options.http(context).load("/backup", part);
      Backup.Description said = BackupFormat.read(part).description();
      try (FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE)) {
        channel.force(true);
      }
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      context.out().line(options.json ? json(said) : text(said));
      return ExitCode.OK;
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private String text(Backup.Description said) throws IOException {
    return file
        + ": version "
        + said.version()
        + " of the registry of cluster "
        + said.cluster()
        + ", "
        + said.buses()
        + " buses, "
        + said.topics()
        + " topics, "
        + Files.size(file)
        + " bytes, taken at bus "
        + said.bus()
        + " "
        + said.taken();
  }

  private String json(Backup.Description said) throws IOException {
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("file", file.toString());
    json.put("bytes", Files.size(file));
    json.put("cluster", said.cluster());
    json.put("bus", said.bus());
    json.put("taken", said.taken().toString());
    json.put("version", said.version());
    json.put("buses", said.buses());
    json.put("topics", said.topics());
    return json.toString();
  }
}
