package io.eventbus.cli.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.RequestOptions;
import io.eventbus.protocol.ServiceName;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** List of services, or of the members of a service. */
@Command(
    name = "services",
    description = {
      "Lists the services that have members at the bus, or the members of one service.",
      "The bus answers clients that may observe $SYS.services.> (see auth.observe)."
    },
    footer = {
      "",
      "Examples:",
      "  eventbus services",
      "  eventbus services orders",
      "  eventbus subscribe '$SYS.services.orders'"
    })
public final class ServicesCommand implements Callable<Integer> {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "SERVICE",
      description = "Lists the members of this service.")
  @Nullable String service;

  @Option(
      names = {"-t", "--timeout"},
      paramLabel = "TIME",
      defaultValue = "10s",
      description = "How long to wait for an answer (default: ${DEFAULT-VALUE}).")
  Duration timeout = Duration.ofSeconds(10);

  private final CliContext context;
  private RequestOptions options = RequestOptions.DEFAULT;

  ServicesCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    String name = service;
    String problem = name == null ? null : ServiceName.problem(name);
    if (problem != null) {
      throw new ParameterException(spec.commandLine(), "SERVICE: " + problem);
    }
    try {
      options = options.withTimeout(timeout);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    Warnings warnings = new Warnings(context.err(), why -> {});
    try (EventBusClient client = connection.connect(context.variables(), warnings)) {
      TableText table = name == null ? services(client) : members(client, name);
      table.lines().forEach(context.out()::line);
      return ExitCode.OK;
    } catch (CallFailed e) {
      throw new CliFailure(RequestCommand.exitCode(e), RequestCommand.describe(e), e);
    }
  }

  private JsonNode ask(EventBusClient client, String method, String argument) throws IOException {
    byte[] answer =
        client
            .call(ServiceName.BUS, Event.of(argument), options.withMethod(method))
            .event()
            .payload();
    return JSON.readTree(answer);
  }

  private TableText services(EventBusClient client) throws IOException {
    TableText table = new TableText();
    table.row("service", "members", "window", "outstanding", "queued", "bus");
    JsonNode answer = ask(client, "services", "");
    while (true) {
      for (JsonNode each : answer.path("services")) {
        table.row(
            each.path("name").asText(),
            each.path("members").asText(),
            each.path("window").asText(),
            each.path("outstanding").asText(),
            each.path("queued").asText(),
            answer.path("bus").asText());
      }
      String next = answer.path("next").asText("");
      if (!answer.hasNonNull("next")) {
        return table;
      }
      answer = ask(client, "services", next);
    }
  }

  private TableText members(EventBusClient client, String name) throws IOException {
    TableText table = new TableText();
    table.row(
        "member",
        "client",
        "version",
        "concurrency",
        "window",
        "outstanding",
        "latency ms",
        "completed",
        "bus");
    JsonNode answer = ask(client, "service", name);
    for (JsonNode each : answer.path("members")) {
      table.row(
          each.path("number").asText(),
          each.path("client").asText(),
          each.path("version").asText(),
          each.path("concurrency").asText(),
          each.path("window").asText(),
          each.path("outstanding").asText(),
          String.format(Locale.ROOT, "%.3f", each.path("latencyMicros").asLong() / 1e3),
          each.path("completions").asText(),
          answer.path("bus").asText());
    }
    return table;
  }
}
