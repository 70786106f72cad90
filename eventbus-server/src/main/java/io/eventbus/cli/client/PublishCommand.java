package io.eventbus.cli.client;

import io.eventbus.cli.console.BrokenPipe;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.StopHook;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.Published;
import io.eventbus.client.SendResult;
import io.eventbus.protocol.DurationText;
import io.eventbus.protocol.ProducerName;
import io.eventbus.protocol.Topic;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Publishes events to one topic. */
@Command(
    name = "publish",
    description = {
      "Publishes events to a topic and waits until the bus has confirmed them.",
      "The payloads are the arguments, or else the lines of standard input or of a file."
    },
    footer = {
      "",
      "Examples:",
      "  eventbus publish greetings.hello 'Good morning'",
      "  tail -f app.log | eventbus publish logs.app --key web-1",
      "  eventbus publish images.new --whole --file picture.png --header type=image/png",
      "  eventbus publish accounts.7 '-5' --expect 41 --output jsonl"
    })
public final class PublishCommand implements Callable<Integer> {
  /** Maximum payload that a bus can allow; the SDK checks the bus's own limit. */
  private static final int MAX_PAYLOAD_BYTES = 1 << 30;

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "TOPIC", description = "Where to: tokens with '.' between.")
  String topic = "";

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "PAYLOAD",
      description = "Text of an event; one event for each.")
  List<String> payloads = new ArrayList<>();

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      description = "Publishes the lines of this file.")
  @Nullable Path file;

  @Option(
      names = "--whole",
      description = "Publishes the file or standard input as one event, not line by line.")
  boolean whole;

  @Option(
      names = {"-k", "--key"},
      paramLabel = "KEY",
      description = "Key of every event: the overflow policy CONFLATE keeps the last of each key.")
  @Nullable String key;

  @Option(
      names = {"-H", "--header"},
      paramLabel = "NAME=VALUE",
      description = "A header of every event; may be repeated.")
  Map<String, String> headers = new LinkedHashMap<>();

  @Option(
      names = {"-r", "--rate"},
      paramLabel = "N",
      description = "Publishes at most N events each second.")
  double rate;

  @Option(
      names = "--no-confirm",
      description = "Does not ask the bus to confirm each event: faster, and may lose some unseen.")
  boolean noConfirm;

  @Option(
      names = "--expect",
      paramLabel = "POSITION",
      description =
          "Durable topics: the topic's last event has this position, or there is none (0).")
  @Nullable Long expect;

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      description = "Durable topics: how long the events wait before they are delivered.")
  @Nullable Duration delay;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      description = "Durable topics: how long the events are delivered.")
  @Nullable Duration ttl;

  @Option(
      names = "--producer",
      paramLabel = "NAME",
      description =
          "Durable topics: events that are published again under this name and their numbers are"
              + " stored once.")
  @Nullable String producer;

  @Option(
      names = "--number",
      paramLabel = "N",
      description = "With --producer: number of the first event; the others have the next ones.")
  @Nullable Long number;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "jsonl: writes each confirmation as a JSON object on a line.")
  @Nullable Output output;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "30s",
      description = "How long to wait for confirmations at the end (default: ${DEFAULT-VALUE}).")
  Duration timeout = Duration.ofSeconds(30);

  /** Format of confirmations. */
  enum Output {
    /** JSON object on a line. */
    JSONL;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final CliContext context;
  private final ConfirmationReport confirmations = new ConfirmationReport();
  private final AtomicLong published = new AtomicLong();
  private PublishOptions options = PublishOptions.DEFAULT;
  private volatile @Nullable BrokenPipe closed;

  PublishCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    check();
    Warnings warnings = new Warnings(context.err(), why -> {});
    try (EventBusClient client = connection.connect(context.variables(), warnings)) {
      StopHook hook = new StopHook(() -> interrupted(client));
      try {
        publishAll(client);
        finish(client);
      } finally {
        hook.close();
      }
    }
    String confirmed = noConfirm ? "" : ", " + confirmations.summary();
    context
        .err()
        .println("eventbus: " + count(published.get()) + " published to " + topic + confirmed);
    return ExitCode.OK;
  }

  private void check() {
    String problem = Topic.problem(topic);
    if (problem != null) {
      throw new ParameterException(spec.commandLine(), "TOPIC: " + problem);
    }
    if (!payloads.isEmpty() && (file != null || whole)) {
      throw new ParameterException(
          spec.commandLine(), "payloads are given both as arguments and as a file");
    }
    if (!(rate >= 0 && rate <= 1e9)) {
      throw new ParameterException(
          spec.commandLine(), "--rate: " + rate + " (expected: 0 to 1000000000)");
    }
    options = options();
  }

  private PublishOptions options() {
    if (expect != null && !whole && payloads.size() != 1) {
      throw new ParameterException(
          spec.commandLine(), "--expect: for one event (expected: one PAYLOAD, or --whole)");
    }
    if ((producer == null) != (number == null)) {
      throw new ParameterException(
          spec.commandLine(), "--producer and --number: one of them (expected: both, or none)");
    }
    boolean durable = expect != null || delay != null || ttl != null || producer != null;
    if (noConfirm && (durable || output != null)) {
      throw new ParameterException(
          spec.commandLine(),
          "--no-confirm: with --expect, --delay, --ttl, --producer or --output (expected: without)");
    }
    String problem = producer == null ? null : ProducerName.problem(producer);
    if (problem != null) {
      throw new ParameterException(spec.commandLine(), "--producer: " + problem);
    }
    try {
      return new PublishOptions(
          expect == null ? OptionalLong.empty() : OptionalLong.of(expect),
          delay == null ? Duration.ZERO : delay,
          ttl == null ? Duration.ZERO : ttl,
          Optional.ofNullable(producer),
          number == null ? 0 : number);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }

  private void publishAll(EventBusClient client) throws IOException {
    SendPace pace = new SendPace(rate);
    if (!payloads.isEmpty()) {
      for (String payload : payloads) {
        pace.next();
        publish(client, payload.getBytes(StandardCharsets.UTF_8));
      }
      return;
    }
    try (InputStream in = file == null ? context.in() : open(file)) {
      if (whole) {
        publish(client, in.readNBytes(MAX_PAYLOAD_BYTES));
        return;
      }
      LineReader lines = new LineReader(in, MAX_PAYLOAD_BYTES);
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        pace.next();
        publish(client, line);
      }
    }
  }

  private void publish(EventBusClient client, byte[] payload) {
    failIfRefused();
    Event event = Event.builder(payload).key(key).headers(headers).build();
    if (noConfirm) {
      SendResult result = client.send(topic, event);
      if (!result.accepted()) {
        throw new CliFailure(ExitCode.FAILED, "an event was not sent: " + result);
      }
    } else {
      if (producer != null && published.get() > 0) {
        options = options.withProducer(producer, options.number() + 1);
      }
      CompletionStage<Published> confirmed =
          options.equals(PublishOptions.DEFAULT)
              ? client.publish(topic, event)
              : client.publish(topic, event, options);
      confirmations.add(output == null ? confirmed : confirmed.thenApply(this::show));
    }
    published.incrementAndGet();
  }

  private synchronized Published show(Published confirmed) {
    try {
      context.out().write(EventFormat.jsonLine(confirmed));
    } catch (BrokenPipe e) {
      closed = e;
    }
    return confirmed;
  }

  private void finish(EventBusClient client) throws InterruptedException {
    if (noConfirm) {
      client.flush(timeout);
    } else if (!confirmations.await(timeout)) {
      throw new CliFailure(
          ExitCode.FAILED,
          count(confirmations.open())
              + " of "
              + published.get()
              + " not confirmed within "
              + DurationText.of(timeout));
    }
    failIfRefused();
  }

  private void failIfRefused() {
    BrokenPipe pipe = closed;
    if (pipe != null) {
      throw pipe;
    }
    Throwable failure = confirmations.firstFailure();
    if (failure != null) {
      throw new CliFailure(
          failure instanceof EventBusException.ConnectionLost
              ? ExitCode.NOT_CONNECTED
              : ExitCode.FAILED,
          Failures.describe(failure) + " (" + count(confirmations.confirmed()) + " confirmed)",
          failure);
    }
  }

  private void interrupted(EventBusClient client) {
    client.close(Duration.ofSeconds(2));
    context
        .err()
        .println(
            "eventbus: interrupted after "
                + count(published.get())
                + (noConfirm ? "" : ", " + confirmations.confirmed() + " confirmed"));
  }

  private static InputStream open(Path file) {
    try {
      return Files.newInputStream(file);
    } catch (IOException e) {
      throw new CliFailure(ExitCode.USAGE, "--file: " + file + " (expected: a readable file)", e);
    }
  }

  private static String count(long events) {
    return events == 1 ? "1 event" : events + " events";
  }
}
