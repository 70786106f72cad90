package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.journal.JournalStorePlan;
import io.eventbus.loadtest.journal.JournalStoreRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures the store of durable topics by itself. */
@Command(
    name = "journal-store",
    description = {
      "Writes chunks of events to the store of durable topics, trims them, and reads what is left.",
      "Example: loadtest journal-store --mode blob --journals 100 --total 3GiB --retain 512MiB"
    },
    mixinStandardHelpOptions = true)
final class JournalStoreCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--mode",
      description = "How chunks are stored: blob, plain or segments (default: ${DEFAULT-VALUE}).")
  private String mode = "blob";

  @Option(
      names = "--journals",
      description = "Journals that are written in turn (default: ${DEFAULT-VALUE}).")
  private int journals = 1;

  @Option(
      names = "--total",
      paramLabel = "SIZE",
      description = "Payload that is written (default: ${DEFAULT-VALUE}).")
  private String total = "3GiB";

  @Option(
      names = "--retain",
      paramLabel = "SIZE",
      description = "Payload that is kept (default: ${DEFAULT-VALUE}).")
  private String retain = "512MiB";

  @Option(
      names = "--payload",
      paramLabel = "BYTES",
      description = "Size of an event (default: ${DEFAULT-VALUE}).")
  private int payload = 128;

  @Option(
      names = "--data",
      paramLabel = "DIRECTORY",
      description = "Where it is written; emptied again (default: a temporary directory).")
  private @Nullable Path data;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path parent = data == null ? Path.of(System.getProperty("java.io.tmpdir")) : data;
    Files.createDirectories(parent);
    Path directory = Files.createTempDirectory(parent, "journal-store-");
    try {
      JournalStorePlan plan = plan(directory);
      PrintWriter out = spec.commandLine().getOut();
      out.printf(
          "%s, %d journals, %s written, %s kept, events of %d bytes%n",
          mode, journals, total, retain, payload);
      out.print(JournalStoreRun.run(plan));
      out.flush();
      return LoadTestExitCode.OK;
    } finally {
      Directories.delete(directory);
    }
  }

  private JournalStorePlan plan(Path directory) {
    try {
      return new JournalStorePlan(
          JournalStorePlan.Mode.of(mode),
          journals,
          ByteSizes.parse("--total", total),
          ByteSizes.parse("--retain", retain),
          payload,
          directory);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }
}
