package io.eventbus.cli.client;

import io.eventbus.cli.bench.CallTally;
import io.eventbus.cli.bench.LatencyFigures;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.StopHook;
import io.eventbus.cli.console.TableText;
import io.eventbus.cli.console.Text;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.client.Priority;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.protocol.ServiceName;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Call of a service. */
@Command(
    name = "request",
    description = {
      "Makes a request to a service and writes the answer.",
      "With --count it makes many, and writes a table of how they ended and how long they took.",
      "With --all every member gets it: a line for each, with the member's number and its answer."
    },
    footer = {
      "",
      "A request is executed twice only with --idempotent. A failure says whether a member has",
      "begun with it.",
      "",
      "Examples:",
      "  eventbus request orders '{\"id\": 7}' --method get --timeout 2s",
      "  eventbus request resize --file picture.png > small.png",
      "  eventbus request orders ping --count 10000 --concurrency 64",
      "  eventbus request orders --all --method version"
    })
public final class RequestCommand implements Callable<Integer> {
  /** Maximum payload that a bus can allow; the SDK checks the bus's own limit. */
  private static final int MAX_PAYLOAD_BYTES = 1 << 30;

  private static final int MAX_AT_ONCE = 1_000_000;
  private static final String ANSWERED = "answered";

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "SERVICE", description = "Whom to ask.")
  String service = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "BODY",
      description = "Text of the request; empty without it.")
  @Nullable String body;

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      description = "Takes the body from this file; - for standard input.")
  @Nullable Path file;

  @Option(
      names = {"-m", "--method"},
      paramLabel = "METHOD",
      defaultValue = "",
      description = "What the service is to do.")
  String method = "";

  @Option(
      names = {"-t", "--timeout"},
      paramLabel = "TIME",
      defaultValue = "30s",
      description = "How long to wait for an answer (default: ${DEFAULT-VALUE}).")
  Duration timeout = Duration.ofSeconds(30);

  @Option(
      names = "--wait",
      paramLabel = "TIME",
      defaultValue = "0s",
      description =
          "How much of that to wait for a member where the service has none (default:"
              + " ${DEFAULT-VALUE}).")
  Duration waitFor = Duration.ZERO;

  @Option(
      names = "--idempotent",
      description = "The request may be executed twice: it is made again when a member is lost.")
  boolean idempotent;

  @Option(
      names = "--priority",
      paramLabel = "PRIORITY",
      defaultValue = "NORMAL",
      description = "Who is served first: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  Priority priority = Priority.NORMAL;

  @Option(names = "--all", description = "Asks all members of the service.")
  boolean all;

  @Option(
      names = {"-H", "--header"},
      paramLabel = "NAME=VALUE",
      description = "A header of the request; may be repeated.")
  Map<String, String> headers = new LinkedHashMap<>();

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      defaultValue = "1",
      description = "Makes N requests.")
  int count = 1;

  @Option(
      names = {"-r", "--rate"},
      paramLabel = "N",
      description = "Makes at most N requests each second; latencies count from when one was due.")
  double rate;

  @Option(
      names = {"-c", "--concurrency"},
      paramLabel = "N",
      defaultValue = "1",
      description = "Waits for at most N answers at once (default: ${DEFAULT-VALUE}).")
  int concurrency = 1;

  private final CliContext context;
  private final CallTally tally = new CallTally();
  private final AtomicBoolean stopped = new AtomicBoolean();
  // Flags: anything has failed, and any of that may have been executed.
  private final AtomicBoolean failed = new AtomicBoolean();
  private final AtomicBoolean perhapsExecuted = new AtomicBoolean();

  RequestCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    RequestOptions options = check();
    Event event = Event.builder(payload()).headers(headers).build();
    Warnings warnings = new Warnings(context.err(), why -> {});
    try (EventBusClient client = connection.connect(context.variables(), warnings)) {
      if (all) {
        return new GatherOutput(context).run(client.gather(service, event, options));
      }
      return count == 1 ? one(client, event, options) : many(client, event, options);
    }
  }

  private RequestOptions check() {
    String problem = ServiceName.callProblem(service);
    if (problem != null) {
      throw new ParameterException(spec.commandLine(), "SERVICE: " + problem);
    }
    if (body != null && file != null) {
      throw new ParameterException(
          spec.commandLine(), "the body is given both as an argument and as a file");
    }
    if (!(rate >= 0 && rate <= 1e9)) {
      throw new ParameterException(
          spec.commandLine(), "--rate: " + rate + " (expected: 0 to 1000000000)");
    }
    if (all && count != 1) {
      throw new ParameterException(
          spec.commandLine(), "--count: " + count + " (expected: 1 with --all)");
    }
    checkPositive("--count", count);
    checkPositive("--concurrency", concurrency);
    try {
      return RequestOptions.DEFAULT
          .withTimeout(timeout)
          .withWaitFor(waitFor)
          .withMethod(method)
          .withIdempotent(idempotent)
          .withPriority(priority);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private void checkPositive(String option, int value) {
    if (value < 1 || (option.equals("--concurrency") && value > MAX_AT_ONCE)) {
      throw new ParameterException(
          spec.commandLine(), option + ": " + value + " (expected: 1 to " + MAX_AT_ONCE + ")");
    }
  }

  private byte[] payload() throws IOException {
    Path from = file;
    if (from == null) {
      return (body == null ? "" : body).getBytes(StandardCharsets.UTF_8);
    }
    if (from.toString().equals("-")) {
      return context.in().readNBytes(MAX_PAYLOAD_BYTES);
    }
    try (InputStream in = Files.newInputStream(from)) {
      return in.readNBytes(MAX_PAYLOAD_BYTES);
    } catch (IOException e) {
      throw new CliFailure(ExitCode.USAGE, "--file: " + from + " (expected: a readable file)", e);
    }
  }

  private int one(EventBusClient client, Event event, RequestOptions options) {
    try {
      Response response = client.call(service, event, options);
      byte[] payload = response.event().payload();
      context.out().write(payload);
      if (context.terminal() && (payload.length == 0 || payload[payload.length - 1] != '\n')) {
        context.out().line("");
      }
      return ExitCode.OK;
    } catch (CallFailed e) {
      throw new CliFailure(exitCode(e), describe(e), e);
    }
  }

  static int exitCode(CallFailed failure) {
    return failure.executed() == Execution.NO ? ExitCode.NOT_EXECUTED : ExitCode.FAILED;
  }

  static String describe(CallFailed failure) {
    String type =
        failure instanceof CallFailed.Rejected rejected && !rejected.type().isEmpty()
            ? " " + rejected.type()
            : "";
    return Text.printable(name(failure) + type + ": " + Failures.describe(failure));
  }

  private static String name(CallFailed failure) {
    String kind =
        failure instanceof CallFailed.Rejected rejected
            ? rejected.reason().name()
            : failure.getClass().getSimpleName();
    return kind
        + switch (failure.executed()) {
          case NO -> " (not executed)";
          case YES -> " (executed)";
          case UNKNOWN -> " (perhaps executed)";
        };
  }

  private int many(EventBusClient client, Event event, RequestOptions options)
      throws InterruptedException {
    long begun = System.nanoTime();
    // Answers that came before an interrupt are shown, too.
    StopHook hook =
        new StopHook(
            () -> {
              stopped.set(true);
              show(begun);
            });
    try {
      Semaphore free = new Semaphore(concurrency);
      SendPace pace = new SendPace(rate);
      for (int i = 0; i < count && !stopped.get(); i++) {
        long due = pace.next();
        free.acquire();
        CompletableFuture<Response> unused =
            client
                .request(service, event, options)
                .whenComplete(
                    (response, failure) -> {
                      ended(due, failure);
                      free.release();
                    });
      }
      // Each has a deadline.
      free.acquire(concurrency);
    } finally {
      hook.close();
    }
    show(begun);
    if (!failed.get()) {
      return ExitCode.OK;
    }
    return perhapsExecuted.get() ? ExitCode.FAILED : ExitCode.NOT_EXECUTED;
  }

  private void ended(long due, @Nullable Throwable failure) {
    String outcome = ANSWERED;
    if (failure != null) {
      Throwable cause = Failures.unwrap(failure);
      failed.set(true);
      outcome = cause.getClass().getSimpleName();
      if (cause instanceof CallFailed call) {
        outcome = name(call);
        if (call.executed() != Execution.NO) {
          perhapsExecuted.set(true);
        }
      }
    }
    tally.add(outcome, due, System.nanoTime());
  }

  private void show(long begun) {
    double seconds = (System.nanoTime() - begun) / 1e9;
    TableText table = new TableText();
    table.row("outcome", "count", "p50 ms", "p90 ms", "p99 ms", "max ms");
    long all = 0;
    for (CallTally.Outcome outcome : tally.take()) {
      LatencyFigures figures = outcome.figures();
      all += figures.count();
      table.row(
          outcome.name(),
          Long.toString(figures.count()),
          millis(figures.p50()),
          millis(figures.p90()),
          millis(figures.p99()),
          millis(figures.max()));
    }
    table.lines().forEach(context.out()::line);
    context
        .err()
        .println(
            String.format(
                Locale.ROOT,
                "eventbus: %d requests to %s in %.2f s, %.0f each second",
                all,
                service,
                seconds,
                all / Math.max(seconds, 1e-9)));
  }

  private static String millis(double micros) {
    return String.format(Locale.ROOT, "%.3f", micros / 1e3);
  }
}
