package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.journal.JournalShardPlan;
import io.eventbus.loadtest.journal.JournalShardRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures a shard of durable topics: log, rules and store, without a bus. */
@Command(
    name = "journal-shard",
    description = {
      "Publishes events to a shard of one voter: they are confirmed when they are on the disk.",
      "Example: loadtest journal-shard --frame 64 --seconds 20"
    },
    mixinStandardHelpOptions = true)
final class JournalShardCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--journals",
      description = "Journals that are published to in turn (default: ${DEFAULT-VALUE}).")
  private int journals = 1;

  @Option(
      names = "--frame",
      paramLabel = "EVENTS",
      description = "Events of a publication (default: ${DEFAULT-VALUE}).")
  private int frame = 64;

  @Option(
      names = "--window",
      paramLabel = "EVENTS",
      description = "Events that are under way (default: ${DEFAULT-VALUE}).")
  private int window = 4_096;

  @Option(
      names = "--payload",
      paramLabel = "BYTES",
      description = "Size of an event (default: ${DEFAULT-VALUE}).")
  private int payload = 128;

  @Option(
      names = "--rate",
      paramLabel = "EVENTS",
      description = "Events a second; 0 for as many as there can be (default: ${DEFAULT-VALUE}).")
  private long rate;

  @Option(
      names = "--seconds",
      description = "Time that is measured, after a tenth of it (default: ${DEFAULT-VALUE}).")
  private int seconds = 20;

  @Option(
      names = "--retain",
      paramLabel = "SIZE",
      description = "What each journal keeps (default: ${DEFAULT-VALUE}).")
  private String retain = "512MiB";

  @Option(
      names = "--data",
      paramLabel = "DIRECTORY",
      description = "Where it is written; emptied again (default: a temporary directory).")
  private @Nullable Path data;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path parent = data == null ? Path.of(System.getProperty("java.io.tmpdir")) : data;
    Files.createDirectories(parent);
    Path directory = Files.createTempDirectory(parent, "journal-shard-");
    try {
      JournalShardPlan plan = plan(directory);
      PrintWriter out = spec.commandLine().getOut();
      out.printf(
          "%d journals, frames of %d events of %d bytes, window %d events, %s%n",
          journals, frame, payload, window, rate == 0 ? "full speed" : rate + " events/s");
      out.print(JournalShardRun.run(plan));
      out.flush();
      return LoadTestExitCode.OK;
    } finally {
      Directories.delete(directory);
    }
  }

  private JournalShardPlan plan(Path directory) {
    try {
      return new JournalShardPlan(
          journals,
          frame,
          window,
          payload,
          rate,
          Duration.ofSeconds(seconds),
          ByteSizes.parse("--retain", retain),
          directory);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }
}
