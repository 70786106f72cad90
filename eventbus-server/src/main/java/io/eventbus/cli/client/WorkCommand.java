package io.eventbus.cli.client;

import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.StopHook;
import io.eventbus.client.DurableBuilder;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Start;
import io.eventbus.client.Worker;
import io.eventbus.client.WorkerBuilder;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Consumer of a shared durable subscription that runs a command for each event. */
@Command(
    name = "work",
    description =
        "Durable topics: runs a command for each event of a shared durable subscription, until it is"
            + " stopped.",
    footer = {
      "",
      "The consumers of one name share the events. The command gets the payload on",
      "its standard input, and in its environment EVENTBUS_TOPIC, EVENTBUS_POSITION",
      "and EVENTBUS_ATTEMPT. Its exit code settles the event: 0 it is done; 65 it is",
      "a dead letter, with the last line of the standard error as the reason; any",
      "other, it comes again later.",
      "",
      "Example:",
      "  eventbus work resizer --filter 'images.>' --from first --exec ./resize -c 4"
    })
public final class WorkCommand implements Callable<Integer> {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "NAME", description = "The durable subscription.")
  String name = "";

  @Option(
      names = "--exec",
      paramLabel = "COMMAND",
      required = true,
      description = "Runs this command with sh for each event.")
  String exec = "";

  @Option(
      names = "--filter",
      paramLabel = "FILTER",
      defaultValue = ">",
      description = "A topic, or a filter with '*' or '>' (default: all of the journal).")
  String filter = ">";

  @Option(
      names = {"-c", "--concurrency"},
      paramLabel = "N",
      defaultValue = "1",
      description = "Runs at most N commands at once (default: ${DEFAULT-VALUE}).")
  int concurrency = 1;

  @Option(
      names = "--ack-timeout",
      paramLabel = "TIME",
      defaultValue = "30s",
      description =
          "The bus gives events of a consumer that says nothing for this time to another one"
              + " (default: ${DEFAULT-VALUE}). A command may run for longer.")
  Duration ackTimeout = Duration.ofSeconds(30);

  @Option(
      names = "--max-attempts",
      paramLabel = "N",
      defaultValue = "10",
      description = "An event that fails N times is a dead letter (default: ${DEFAULT-VALUE}).")
  int maxAttempts = 10;

  @Option(
      names = "--from",
      paramLabel = "START",
      description =
          "first, new, position:N or time:2026-01-31T12:00:00Z: where a new durable subscription"
              + " begins (default: new).")
  @Nullable String from;

  @Option(
      names = "--journal",
      paramLabel = "NAME",
      description = "The journal, where several have topics of the filter.")
  @Nullable String journal;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "Ends after N events.")
  @Nullable Long count;

  private final CliContext context;
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  // Events that may still begin, and that have not ended.
  private final AtomicLong allowed = new AtomicLong(Long.MAX_VALUE);
  private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);

  WorkCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    Start start = check();
    Warnings warnings = new Warnings(context.err(), this::lost);
    ExecWorker commands = new ExecWorker(exec, ackTimeout, context.err());
    EventBusClient client = connection.connect(context.variables(), warnings);
    StopHook hook =
        new StopHook(
            () -> {
              client.close(CLOSE_TIMEOUT);
              commands.stop();
            });
    try {
      work(client, start, commands);
      return ExitCode.OK;
    } finally {
      hook.close();
      client.close(CLOSE_TIMEOUT);
      commands.stop();
    }
  }

  private Start check() {
    if (count != null) {
      if (count < 1) {
        throw new ParameterException(
            spec.commandLine(), "--count: " + count + " (expected: 1 or more)");
      }
      allowed.set(count);
      left.set(count);
    }
    try {
      return from == null ? Start.NEW : StartOption.parse(from);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private void work(EventBusClient client, Start start, ExecWorker commands) throws Exception {
    Worker worker = begin(client, start, commands);
    try {
      // The SDK's own deadline ends this.
      worker.ready().toCompletableFuture().get();
    } catch (ExecutionException e) {
      Throwable failure = Failures.unwrap(e);
      throw new CliFailure(
          ExitCode.FAILED, "cannot work for " + name + ": " + Failures.describe(failure), failure);
    }
    context.err().println("eventbus: works for " + name);
    context.err().flush();
    try {
      done.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CliFailure failure) {
        throw failure;
      }
      throw e;
    }
    worker.unsubscribe().toCompletableFuture().get();
    Worker.Counters counters = worker.counters();
    context
        .err()
        .println(
            "eventbus: "
                + counters.done()
                + " events done, "
                + counters.retried()
                + " to come again, "
                + counters.rejected()
                + " rejected");
  }

  private Worker begin(EventBusClient client, Start start, ExecWorker commands) {
    try {
      DurableBuilder builder = client.durable(name).filter(filter).from(start);
      if (journal != null) {
        builder.journal(journal);
      }
      WorkerBuilder shared =
          builder
              .shared()
              .concurrency(concurrency)
              .ackTimeout(ackTimeout)
              .maxAttempts(maxAttempts)
              // Commands take long: what would wait here is better off with other consumers.
              .maxUnsettled(Math.min(1024, 2 * concurrency));
      return shared.handler(
          (event, delivery) -> {
            if (allowed.decrementAndGet() < 0) {
              // The worker ends: other consumers get what came meanwhile.
              delivery.release();
              return;
            }
            try {
              commands.onEvent(event, delivery);
            } finally {
              if (left.decrementAndGet() == 0) {
                done.complete(null);
              }
            }
          });
    } catch (EventBusException.IllegalTopic | IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private void lost(String why) {
    done.completeExceptionally(
        new CliFailure(ExitCode.NOT_CONNECTED, "the bus closed the connection: " + why));
  }
}
