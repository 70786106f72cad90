package io.eventbus.cli.client;

import io.eventbus.cli.console.BrokenPipe;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.StopHook;
import io.eventbus.client.DurableBuilder;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Overflow;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import io.eventbus.client.WorkDelivery;
import io.eventbus.protocol.TopicFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Subscription to filters that writes the events. */
@Command(
    name = "subscribe",
    description = "Subscribes to topics and writes their events, until it is stopped.",
    footer = {
      "",
      "In a filter '*' is any one token, and '>' at the end any one or more. Quote them.",
      "",
      "Examples:",
      "  eventbus subscribe '>'",
      "  eventbus subscribe 'flights.*.departed' --output jsonl | jq .payload",
      "  eventbus subscribe jobs.new --group workers",
      "  eventbus subscribe 'orders.>' --durable billing --from first",
      "  eventbus subscribe 'images.>' --durable resizer --mode shared",
      "  eventbus subscribe 'orders.>' --from position:1 --output jsonl"
    })
public final class SubscribeCommand implements Callable<Integer> {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "1..*",
      paramLabel = "FILTER",
      description = "A topic, or a filter with '*' or '>'.")
  List<String> filters = new ArrayList<>();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = {
        "pretty: a line for people; jsonl: a JSON object on each line; raw: payloads, each with a"
            + " line feed. Default: pretty on a terminal, else jsonl."
      })
  @Nullable EventFormat format;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "Ends after N events.")
  @Nullable Long count;

  @Option(
      names = {"-t", "--timeout"},
      paramLabel = "TIME",
      description = "Ends after this time; with --count that is a failure.")
  @Nullable Duration timeout;

  @Option(
      names = {"-g", "--group"},
      paramLabel = "GROUP",
      description = "Shares the events with the other members of this group.")
  @Nullable String group;

  @Option(
      names = "--overflow",
      paramLabel = "POLICY",
      defaultValue = "BLOCK",
      description = {
        "What the bus does when this command is too slow: ${COMPLETION-CANDIDATES}"
            + " (default: ${DEFAULT-VALUE})."
      })
  Overflow overflow = Overflow.BLOCK;

  @Option(
      names = "--durable",
      paramLabel = "NAME",
      description =
          "Durable topics: goes on where the durable subscription of this name stopped. An event is"
              + " settled when it has been written.")
  @Nullable String durable;

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      defaultValue = "exclusive",
      description = {
        "Durable topics: exclusive: of several consumers of the name one gets the events, in order;"
            + " shared: each event goes to one of them (default: ${DEFAULT-VALUE})."
      })
  Mode mode = Mode.EXCLUSIVE;

  @Option(
      names = "--from",
      paramLabel = "START",
      description = {
        "Durable topics: first, new, latest-values, position:N or time:2026-01-31T12:00:00Z. Where a"
            + " new durable subscription begins (default: new), or a replay without a name."
      })
  @Nullable String from;

  @Option(
      names = "--journal",
      paramLabel = "NAME",
      description = "Durable topics: the journal, where several have topics of the filter.")
  @Nullable String journal;

  /** Way in which the consumers of a durable subscription share its events. */
  enum Mode {
    /** One consumer gets all of them. */
    EXCLUSIVE,
    /** Each consumer gets some of them. */
    SHARED;

    /** Returns the name as the user types it. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final CliContext context;
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);
  private final Object order = new Object();

  SubscribeCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    if (count != null) {
      if (count < 1) {
        throw new ParameterException(
            spec.commandLine(), "--count: " + count + " (expected: 1 or more)");
      }
      left.set(count);
    }
    for (String filter : filters) {
      String problem = TopicFilter.problem(filter);
      if (problem != null) {
        throw new ParameterException(spec.commandLine(), "FILTER: " + problem);
      }
    }
    SubscribeOptions options = SubscribeOptions.DEFAULT.withGroup(group).withOverflow(overflow);
    Start start = start();
    Warnings warnings = new Warnings(context.err(), this::lost);
    EventBusClient client = connection.connect(context.variables(), warnings);
    StopHook hook = new StopHook(() -> client.close(CLOSE_TIMEOUT));
    try {
      EventFormat chosen =
          format != null ? format : context.terminal() ? EventFormat.PRETTY : EventFormat.JSONL;
      if (start == null) {
        subscribe(client, options, chosen);
      } else {
        consume(client, start, chosen);
      }
      return await();
    } finally {
      hook.close();
      client.close(CLOSE_TIMEOUT);
    }
  }

  /** Returns where a consumer of stored events begins; null for a plain subscription. */
  private @Nullable Start start() {
    if (durable == null && mode != Mode.EXCLUSIVE) {
      throw new ParameterException(
          spec.commandLine(), "--mode: without --durable (expected: with a name)");
    }
    if (durable == null && from == null && journal == null) {
      return null;
    }
    if (filters.size() != 1
        || group != null
        || spec.commandLine().getParseResult().hasMatchedOption("--overflow")) {
      throw new ParameterException(
          spec.commandLine(),
          "--durable, --from and --journal: for one FILTER, without --group and --overflow");
    }
    if (from == null) {
      return Start.NEW;
    }
    try {
      return StartOption.parse(from);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private void consume(EventBusClient client, Start start, EventFormat chosen) throws Exception {
    DurableBuilder builder = durable == null ? client.replay() : client.durable(durable);
    if (journal != null) {
      builder.journal(journal);
    }
    String filter = filters.get(0);
    builder.filter(filter).from(start);
    CompletionStage<?> ready;
    try {
      ready =
          mode == Mode.SHARED
              ? builder
                  .shared()
                  .handler((event, delivery) -> settle(chosen, event, delivery))
                  .ready()
              : builder.handler(event -> write(chosen, event)).ready();
    } catch (EventBusException.IllegalTopic e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    awaitReady(ready, filter);
    context.err().println("eventbus: consumes " + filter);
  }

  private void write(EventFormat chosen, ReceivedEvent event) {
    if (!show(chosen, event)) {
      throw new CancellationException("not written, so it is not settled");
    }
  }

  private void settle(EventFormat chosen, ReceivedEvent event, WorkDelivery delivery) {
    if (!show(chosen, event)) {
      // Other consumers get it.
      delivery.release();
    }
  }

  private void subscribe(EventBusClient client, SubscribeOptions options, EventFormat chosen)
      throws Exception {
    List<Subscription> subscriptions = new ArrayList<>();
    for (String filter : filters) {
      subscriptions.add(client.subscribe(filter, options, event -> show(chosen, event)));
    }
    for (Subscription subscription : subscriptions) {
      awaitReady(subscription.ready(), subscription.filter());
    }
    context.err().println("eventbus: subscribed to " + String.join(" ", filters));
  }

  private static void awaitReady(CompletionStage<?> ready, String filter) throws Exception {
    try {
      // The SDK's own deadline ends this.
      ready.toCompletableFuture().get();
    } catch (ExecutionException e) {
      Throwable failure = Failures.unwrap(e);
      throw new CliFailure(
          ExitCode.FAILED,
          "cannot subscribe to " + filter + ": " + Failures.describe(failure),
          failure);
    }
  }

  /**
   * Shows an event; returns false if there were enough, or it cannot be written. Called by one
   * thread for each subscription; the lock keeps count and lines in step.
   */
  private boolean show(EventFormat chosen, ReceivedEvent event) {
    synchronized (order) {
      if (left.get() == 0) {
        return false;
      }
      try {
        context.out().write(chosen.line(event, context.colour()));
      } catch (BrokenPipe e) {
        left.set(0);
        done.completeExceptionally(e);
        return false;
      }
      if (left.decrementAndGet() == 0) {
        done.complete(null);
      }
      return true;
    }
  }

  private void lost(String why) {
    done.completeExceptionally(
        new CliFailure(ExitCode.NOT_CONNECTED, "the bus closed the connection: " + why));
  }

  private int await() throws Exception {
    try {
      if (timeout == null) {
        done.get();
      } else {
        done.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      }
      return ExitCode.OK;
    } catch (TimeoutException e) {
      if (count == null) {
        return ExitCode.OK;
      }
      throw new CliFailure(
          ExitCode.FAILED,
          "--timeout: "
              + (count - left.get())
              + " of "
              + count
              + " events within "
              + timeout.toMillis()
              + " ms");
    } catch (ExecutionException e) {
      if (Failures.unwrap(e) instanceof Exception failure) {
        throw failure;
      }
      throw e;
    }
  }
}
