package io.eventbus.cli.client;

import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Copy of the events of a journal into a file. */
@Command(
    name = "backup",
    description = {
      "Copies the events of a journal into a file, as a client that replays them: all that the"
          + " journal has when the command begins.",
      "Needs the permission to subscribe to the topics, not the administration port.",
      "The file is an Avro object container file. Durable subscriptions are not in it."
    },
    footer = {"", "Example:", "  eventbus journal backup orders orders-2026-01-31.avro"})
public final class JournalBackupCommand implements Callable<Integer> {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
  private static final long LOOK_MILLIS = 50;
  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(5);

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "JOURNAL", description = "The journal.")
  String journal = "";

  @Parameters(
      index = "1",
      paramLabel = "FILE",
      description = "The file, which must not be there yet.")
  Path file = Path.of("journal.avro");

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "30s",
      description = "Ends with a failure when nothing comes for this time (default: 30s).")
  Duration timeout = Duration.ofSeconds(30);

  private final CliContext context;

  JournalBackupCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    if (Files.exists(file)) {
      throw new CliFailure(
          ExitCode.USAGE, "FILE: " + file + " is there already (expected: a new file)");
    }
    Path part = Path.of(file + ".part");
    try (Copy copy =
            new Copy(new StoredEventFile.Writer(part, journal, UUID.randomUUID().toString()));
        EventBusClient client =
            connection.connect(context.variables(), new Warnings(context.err(), copy::lost))) {
      copyAll(client, copy);
      client.close(CLOSE_TIMEOUT);
      copy.out.finish(copy.end);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      context
          .err()
          .println(
              "eventbus: "
                  + copy.events
                  + " events of "
                  + journal
                  + " up to position "
                  + copy.end
                  + " are in "
                  + file);
      return ExitCode.OK;
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private void copyAll(EventBusClient client, Copy copy) throws Exception {
    DurableSubscription consumer;
    try {
      consumer = client.replay().journal(journal).from(Start.FIRST).handler(copy);
    } catch (EventBusException.IllegalTopic e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    try {
      // The SDK's own deadline ends this.
      consumer.ready().toCompletableFuture().get();
    } catch (ExecutionException e) {
      Throwable failure = Failures.unwrap(e);
      throw new CliFailure(
          ExitCode.FAILED, "cannot read " + journal + ": " + Failures.describe(failure), failure);
    }
    long position = -1;
    long moved = System.nanoTime();
    long told = moved;
    while (!copy.isComplete(consumer)) {
      long now = System.nanoTime();
      if (consumer.position() != position) {
        position = consumer.position();
        moved = now;
      } else if (now - moved > timeout.toNanos()) {
        throw new CliFailure(
            ExitCode.FAILED,
            "nothing has come for "
                + timeout.toSeconds()
                + " s at position "
                + position
                + " (expected: a journal with events)");
      }
      if (now - told > PROGRESS_NANOS) {
        told = now;
        context.err().println("eventbus: at position " + position + " of " + copy.end);
      }
      copy.pause();
    }
  }

  /** Copy under way. The client's thread writes, that of the command waits. */
  private final class Copy implements DurableHandler, AutoCloseable {
    final StoredEventFile.Writer out;
    private final CompletableFuture<Void> failed = new CompletableFuture<>();
    // The last position of the copy; 0 before it is known.
    volatile long end;
    final AtomicLong events = new AtomicLong();

    Copy(StoredEventFile.Writer out) {
      this.out = out;
    }

    @Override
    public void onEvent(ReceivedEvent event) throws Exception {
      if (end != 0 && event.position() > end) {
        return;
      }
      try {
        out.write(event);
        events.incrementAndGet();
      } catch (IOException e) {
        failed.completeExceptionally(
            new CliFailure(ExitCode.FAILED, "FILE: " + file + ": " + e.getMessage(), e));
        throw e;
      }
    }

    @Override
    public void onTruncated(Truncated truncated) {
      context
          .err()
          .println(
              "eventbus: positions "
                  + truncated.from()
                  + " to "
                  + truncated.to()
                  + " have events that do not come: "
                  + truncated.reason());
    }

    void lost(String why) {
      failed.completeExceptionally(
          new CliFailure(ExitCode.NOT_CONNECTED, "the bus closed the connection: " + why));
    }

    /** Returns whether everything is written that was there at the beginning. */
    boolean isComplete(DurableSubscription consumer) {
      long position = consumer.position();
      if (end == 0) {
        end = position + consumer.lag();
      }
      return end != 0 && position >= end;
    }

    void pause() throws Exception {
      try {
        failed.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        // Nothing has failed.
      } catch (ExecutionException e) {
        if (e.getCause() instanceof CliFailure failure) {
          throw failure;
        }
        throw e;
      }
    }

    @Override
    public void close() throws IOException {
      out.close();
    }
  }
}
