package io.eventbus.cli.client;

import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.Published;
import io.eventbus.protocol.DurationText;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Publication of the events of a file. */
@Command(
    name = "restore",
    description = {
      "Publishes the events of a backup again, each once also if the command is repeated within"
          + " seven days.",
      "Make the journal first: its topics have to be durable. The events get new positions, in the"
          + " same order for each topic.",
      "Needs the permission to publish to the topics, not the administration port."
    },
    footer = {
      "",
      "Example:",
      "  eventbus journal create orders --filter 'orders.>'",
      "  eventbus journal restore orders-2026-01-31.avro"
    })
public final class JournalRestoreCommand implements Callable<Integer> {
  @Mixin ConnectOptions connection = new ConnectOptions();

  @Parameters(paramLabel = "FILE", description = "The file that `journal backup` has written.")
  Path file = Path.of("journal.avro");

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "60s",
      description = "Waits this long for the last confirmations (default: 60s).")
  Duration timeout = Duration.ofSeconds(60);

  private final CliContext context;
  private final ConfirmationReport confirmations = new ConfirmationReport();
  private final AtomicLong repeated = new AtomicLong();
  // Numbers of the last events of the topics.
  private final Map<String, Long> numbers = new HashMap<>();

  JournalRestoreCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    Warnings warnings = new Warnings(context.err(), why -> {});
    try (StoredEventFile.Reader in = new StoredEventFile.Reader(file);
        EventBusClient client = connection.connect(context.variables(), warnings)) {
      StoredEventFile.Item item = in.next();
      while (item != null) {
        failIfRefused();
        long number = numbers.merge(item.topic(), 1L, Long::sum);
        confirmations.add(
            client
                .publish(
                    item.topic(),
                    item.event(),
                    PublishOptions.producer("restore-" + in.backup(), number))
                .thenApply(this::count));
        item = in.next();
      }
      if (!confirmations.await(timeout)) {
        throw new CliFailure(
            ExitCode.FAILED,
            confirmations.open() + " events not confirmed within " + DurationText.of(timeout));
      }
      failIfRefused();
      context
          .err()
          .println(
              "eventbus: "
                  + confirmations.confirmed()
                  + " events of "
                  + in.journal()
                  + " are stored"
                  + (repeated.get() == 0 ? "" : ", " + repeated + " of them were before"));
      return ExitCode.OK;
    }
  }

  private Published count(Published published) {
    if (published.repeated()) {
      repeated.incrementAndGet();
    }
    return published;
  }

  private void failIfRefused() {
    Throwable failure = confirmations.firstFailure();
    if (failure != null) {
      throw new CliFailure(
          failure instanceof EventBusException.ConnectionLost
              ? ExitCode.NOT_CONNECTED
              : ExitCode.FAILED,
          Failures.describe(failure)
              + " ("
              + confirmations.confirmed()
              + " events are stored; the same command goes on)",
          failure);
    }
  }
}
