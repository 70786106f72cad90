package io.eventbus.cli.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.bench.Bench;
import io.eventbus.cli.bench.BenchException;
import io.eventbus.cli.bench.BenchPlan;
import io.eventbus.cli.bench.BenchResult;
import io.eventbus.cli.bench.LatencyFigures;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.StopHook;
import io.eventbus.cli.console.TableText;
import io.eventbus.client.Overflow;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Benchmark of a running bus. */
@Command(
    name = "bench",
    description = {
      "Measures a bus that runs: one publisher, some subscribers, for a while.",
      "All events go to a topic of its own, eventbus-bench.<random>.events. Every event is checked:"
          + " ends with 4 if one was lost, doubled or out of order. The load is real: other clients"
          + " of the bus feel it."
    },
    footer = {
      "",
      "Examples:",
      "  eventbus bench",
      "  eventbus bench -u wss://bus.example.com --rate 1000 --subscribers 10 --payload 512",
      "  eventbus bench --duration 1m -o json"
    })
public final class BenchCommand implements Callable<Integer> {
  private static final double MICROS = 1_000;

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Option(
      names = {"-s", "--subscribers"},
      paramLabel = "N",
      defaultValue = "1",
      description = "Connections that subscribe, 1 to 1000 (default: ${DEFAULT-VALUE}).")
  int subscribers = 1;

  @Option(
      names = {"-p", "--payload"},
      paramLabel = "BYTES",
      defaultValue = "128",
      description = "Size of an event, 16 to 1048576 (default: ${DEFAULT-VALUE}).")
  int payload = 128;

  @Option(
      names = {"-r", "--rate"},
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Events per second, evenly spread; 0 for as fast as the bus confirms them (default:"
              + " ${DEFAULT-VALUE}).")
  long rate;

  @Option(
      names = {"-d", "--duration"},
      paramLabel = "TIME",
      defaultValue = "10s",
      description = "How long to measure, 100ms to 1h (default: ${DEFAULT-VALUE}).")
  Duration duration = Duration.ofSeconds(10);

  @Option(
      names = "--warm-up",
      paramLabel = "TIME",
      defaultValue = "2s",
      description =
          "How long events flow before that, up to 10m; a JVM needs half a minute to be at its best"
              + " (default: ${DEFAULT-VALUE}).")
  Duration warmUp = Duration.ofSeconds(2);

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description =
          "Events that are published and not yet confirmed at most (default: 1000, less where they"
              + " are large).")
  @Nullable Integer inFlight;

  @Option(
      names = "--overflow",
      paramLabel = "POLICY",
      defaultValue = "BLOCK",
      description = {
        "What the bus does when a subscriber is too slow: ${COMPLETION-CANDIDATES}"
            + " (default: ${DEFAULT-VALUE}). A bus may allow BLOCK only to clients with a token."
      })
  Overflow overflow = Overflow.BLOCK;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      defaultValue = "table",
      description = "table or json, one object (default: ${DEFAULT-VALUE}).")
  Format format = Format.TABLE;

  /** Format of the result. */
  enum Format {
    TABLE,
    JSON
  }

  private final CliContext context;

  BenchCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws InterruptedException {
    BenchResult result = measure(plan());
    if (format == Format.JSON) {
      context.out().line(json(result));
    } else {
      table(result).lines().forEach(context.out()::line);
    }
    return result.whole() ? ExitCode.OK : ExitCode.INTEGRITY;
  }

  private BenchPlan plan() {
    try {
      return new BenchPlan(
          subscribers,
          payload,
          rate,
          warmUp,
          duration,
          inFlight == null ? BenchPlan.usualInFlight(payload) : inFlight,
          overflow);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private BenchResult measure(BenchPlan plan) throws InterruptedException {
    BenchWarnings warnings = new BenchWarnings(context.err());
    try (Bench bench =
        new Bench(() -> connection.connect(context.variables(), warnings), plan, this::second)) {
      warnings.whenLost(why -> bench.fail("the bus closed a connection: " + why));
      StopHook hook = new StopHook(bench::close);
      try {
        return bench.run();
      } catch (BenchException e) {
        Throwable cause = e.getCause() == null ? e : Failures.unwrap(e.getCause());
        throw new CliFailure(
            Failures.exitCode(cause),
            e.getCause() == null
                ? String.valueOf(e.getMessage())
                : e.getMessage() + ": " + Failures.describe(cause),
            e);
      } finally {
        hook.close();
      }
    }
  }

  private void second(boolean measuring, double elapsed, double published, double delivered) {
    PrintWriter err = context.err();
    err.printf(
        Locale.ROOT,
        "eventbus: %s %4.0f s  %,12.0f published/s  %,12.0f delivered/s%n",
        measuring ? "measuring" : "warm-up  ",
        elapsed,
        published,
        delivered);
    err.flush();
  }

  private static TableText table(BenchResult r) {
    LatencyFigures latency = r.latencyMicros();
    return new TableText()
        .row("bus", r.bus())
        .row(
            "load",
            String.format(
                Locale.ROOT,
                "1 publisher, %,d subscriber%s, %,d bytes, %s, %.1f s",
                r.subscribers(),
                r.subscribers() == 1 ? "" : "s",
                r.payloadBytes(),
                r.rate() == 0
                    ? "as fast as possible"
                    : String.format(Locale.ROOT, "%,d events/s", r.rate()),
                r.seconds()))
        .row("published", perSecond(r.published(), r.publishedPerSecond()))
        .row("delivered", perSecond(r.delivered(), r.deliveredPerSecond()))
        .row(
            "latency",
            String.format(
                Locale.ROOT,
                "p50 %s, p90 %s, p99 %s, p99.9 %s, longest %s ms",
                millis(latency.p50()),
                millis(latency.p90()),
                millis(latency.p99()),
                millis(latency.p999()),
                millis(latency.max())))
        .row(
            "checked",
            String.format(
                Locale.ROOT,
                "%,d events, warm-up included: %,d lost%s, %,d doubled, %,d out of order, %,d"
                    + " foreign",
                r.sent(),
                r.lost(),
                r.told() == 0 ? "" : String.format(Locale.ROOT, " (told of %,d)", r.told()),
                r.doubled(),
                r.reordered(),
                r.foreign()));
  }

  private static String perSecond(long events, double rate) {
    return String.format(Locale.ROOT, "%,d, %,.0f/s", events, rate);
  }

  private static String millis(double micros) {
    return String.format(Locale.ROOT, "%.2f", micros / MICROS);
  }

  private static String json(BenchResult result) {
    try {
      return new ObjectMapper().writeValueAsString(result);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a result that cannot be written", e);
    }
  }
}
