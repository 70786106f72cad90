package io.eventbus.cli.client;

import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.protocol.ServiceName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Broadcast to all members of a service. */
@Command(
    name = "broadcast",
    description = {
      "Publishes events to all members of a service.",
      "Without events as arguments each line of standard input is one."
    },
    footer = {
      "",
      "Examples:",
      "  eventbus broadcast orders 'reload the prices'",
      "  eventbus respond orders --print"
    })
public final class BroadcastCommand implements Callable<Integer> {
  /** Maximum payload that a bus can allow; the SDK checks the bus's own limit. */
  private static final int MAX_PAYLOAD_BYTES = 1 << 30;

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "SERVICE", description = "Whose members are told.")
  String service = "";

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "PAYLOAD",
      description = "Text of an event; one event for each.")
  List<String> payloads = new ArrayList<>();

  @Option(
      names = {"-H", "--header"},
      paramLabel = "NAME=VALUE",
      description = "A header of every event; may be repeated.")
  Map<String, String> headers = new LinkedHashMap<>();

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "30s",
      description = "How long to wait for confirmations at the end (default: ${DEFAULT-VALUE}).")
  Duration timeout = Duration.ofSeconds(30);

  private final CliContext context;
  private final ConfirmationReport confirmations = new ConfirmationReport();

  BroadcastCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    String problem = ServiceName.problem(service);
    if (problem != null) {
      throw new ParameterException(spec.commandLine(), "SERVICE: " + problem);
    }
    Warnings warnings = new Warnings(context.err(), why -> {});
    try (EventBusClient client = connection.connect(context.variables(), warnings)) {
      long events = broadcastAll(client);
      if (!confirmations.await(timeout)) {
        throw new CliFailure(
            ExitCode.FAILED,
            confirmations.open() + " of " + events + " not confirmed within " + timeout);
      }
      failIfRefused();
      context
          .err()
          .println(
              "eventbus: " + events + " broadcast to " + service + ", " + confirmations.summary());
    }
    return ExitCode.OK;
  }

  private long broadcastAll(EventBusClient client) throws IOException {
    if (!payloads.isEmpty()) {
      for (String payload : payloads) {
        broadcast(client, payload.getBytes(StandardCharsets.UTF_8));
      }
      return payloads.size();
    }
    long events = 0;
    LineReader lines = new LineReader(context.in(), MAX_PAYLOAD_BYTES);
    for (byte[] line = lines.next(); line != null; line = lines.next()) {
      broadcast(client, line);
      events++;
    }
    return events;
  }

  private void broadcast(EventBusClient client, byte[] payload) {
    failIfRefused();
    confirmations.add(client.broadcast(service, Event.builder(payload).headers(headers).build()));
  }

  private void failIfRefused() {
    Throwable failure = confirmations.firstFailure();
    if (failure != null) {
      throw new CliFailure(
          failure instanceof EventBusException.ConnectionLost
              ? ExitCode.NOT_CONNECTED
              : ExitCode.FAILED,
          Failures.describe(failure),
          failure);
    }
  }
}
