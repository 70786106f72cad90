package io.eventbus.cli.client;

import io.eventbus.cli.console.BrokenPipe;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.StopHook;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Invocation;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelHandler;
import io.eventbus.client.TunnelOffer;
import io.eventbus.protocol.ServiceName;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Member of a service. */
@Command(
    name = "respond",
    description = "Answers the requests to a service, or takes tunnels to it, until it is stopped.",
    footer = {
      "",
      "A command gets the body on its standard input, and in its environment EVENTBUS_SERVICE,",
      "EVENTBUS_METHOD, EVENTBUS_CALLER, EVENTBUS_IDENTITY and EVENTBUS_ATTEMPT. What it writes is",
      "the answer; another exit code than 0 fails the request. It is killed when the caller does"
          + " not",
      "wait any more.",
      "",
      "Examples:",
      "  eventbus respond ping --echo",
      "  eventbus respond sort --exec sort --concurrency 4",
      "  eventbus respond db --forward localhost:5432"
    })
public final class RespondCommand implements Callable<Integer> {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "SERVICE", description = "What to serve.")
  String service = "";

  @ArgGroup(exclusive = true, multiplicity = "1")
  Answer answer = new Answer();

  /** Answer to requests. */
  static final class Answer {
    @Option(
        names = "--echo",
        description = "Answers with the request itself; each message of a tunnel goes back.")
    boolean echo;

    @Option(
        names = "--exec",
        paramLabel = "COMMAND",
        description = "Runs this command with sh for each request and answers with its output.")
    @Nullable String exec;

    @Option(
        names = "--print",
        description =
            "Takes no requests; writes what is broadcast to the service, a line for each.")
    boolean print;

    @Option(
        names = "--forward",
        paramLabel = "HOST:PORT",
        description = "Takes tunnels, and joins each to a TCP connection to this address.")
    @Nullable String forward;
  }

  @Option(
      names = {"-c", "--concurrency"},
      paramLabel = "N",
      defaultValue = "16",
      description = "Works on at most N requests at once (default: ${DEFAULT-VALUE}).")
  int concurrency = 16;

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      defaultValue = "0s",
      description = "Waits before each answer (default: ${DEFAULT-VALUE}).")
  Duration delay = Duration.ZERO;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "Ends after N requests, or with --print after N events.")
  @Nullable Long count;

  private final CliContext context;
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);
  private final TunnelPipe pipe = new TunnelPipe();

  RespondCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    ServiceOptions options = check();
    TunnelHandler tunnels = tunnels();
    Warnings warnings = new Warnings(context.err(), this::lost);
    EventBusClient client = connection.connect(context.variables(), warnings);
    StopHook hook = new StopHook(() -> client.close(CLOSE_TIMEOUT));
    try {
      Service served = client.serve(service, options, handler());
      if (answer.print) {
        served.onBroadcast(this::print);
      }
      if (tunnels != null) {
        served.onTunnel(tunnels);
      }
      try {
        // The SDK's own deadline ends this.
        served.ready().toCompletableFuture().get();
      } catch (ExecutionException e) {
        Throwable failure = Failures.unwrap(e);
        throw new CliFailure(
            ExitCode.FAILED,
            "cannot serve " + service + ": " + Failures.describe(failure),
            failure);
      }
      context.err().println("eventbus: serves " + service);
      context.err().flush();
      await();
      served.close(CLOSE_TIMEOUT).toCompletableFuture().get();
      Service.Stats stats = served.stats();
      context
          .err()
          .println(
              "eventbus: "
                  + stats.answered()
                  + " requests answered, "
                  + stats.failed()
                  + " failed");
      return ExitCode.OK;
    } finally {
      hook.close();
      client.close(CLOSE_TIMEOUT);
      pipe.close();
    }
  }

  /** Returns the handler of tunnels; null for none. */
  private @Nullable TunnelHandler tunnels() {
    String to = answer.forward;
    if (to != null) {
      try {
        return Forwarding.to(to, pipe, this::handled);
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
      }
    }
    return answer.echo ? this::echo : null;
  }

  private void echo(TunnelOffer offer) {
    Tunnel tunnel = offer.accept();
    tunnel.closed().whenComplete((ended, failure) -> handled());
    tunnel.messages().subscribe(new Echo(tunnel));
  }

  /** Sends each message back, and reads the next one when there is room for it. */
  private static final class Echo implements Flow.Subscriber<byte[]> {
    private final Tunnel tunnel;
    private Flow.@Nullable Subscription messages;

    Echo(Tunnel tunnel) {
      this.tunnel = tunnel;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      messages = subscription;
      subscription.request(1);
    }

    @Override
    public void onNext(byte[] message) {
      Flow.Subscription more = messages;
      tunnel
          .send(message)
          .whenComplete(
              (sent, failure) -> {
                if (failure != null) {
                  tunnel.close();
                } else if (more != null) {
                  more.request(1);
                }
              });
    }

    @Override
    public void onError(Throwable failure) {
      tunnel.close();
    }

    @Override
    public void onComplete() {
      tunnel.closeOutput();
    }
  }

  private void await() throws Exception {
    try {
      done.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CliFailure failure) {
        throw failure;
      }
      if (e.getCause() instanceof BrokenPipe gone) {
        throw gone;
      }
      throw e;
    }
  }

  private ServiceOptions check() {
    String problem = ServiceName.problem(service);
    if (problem != null) {
      throw new ParameterException(spec.commandLine(), "SERVICE: " + problem);
    }
    if (concurrency < 1 && !answer.print) {
      throw new ParameterException(
          spec.commandLine(), "--concurrency: " + concurrency + " (expected: 1 or more)");
    }
    if (count != null) {
      if (count < 1) {
        throw new ParameterException(
            spec.commandLine(), "--count: " + count + " (expected: 1 or more)");
      }
      left.set(count);
    }
    try {
      return ServiceOptions.DEFAULT
          .withConcurrency(answer.print ? 0 : concurrency)
          .withIdentify(answer.exec != null)
          .withVersion("eventbus respond");
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private RequestHandler handler() {
    String command = answer.exec;
    if (answer.forward != null) {
      return invocation -> {
        throw CallFailed.Rejected.refused("this member takes tunnels only", Duration.ZERO);
      };
    }
    RequestHandler plain =
        command == null
            ? invocation -> CompletableFuture.completedFuture(invocation.event())
            : new ExecHandler(command);
    return invocation -> {
      CompletionStage<Event> answered = delayed(plain, invocation);
      return answered.whenComplete((event, failure) -> handled());
    };
  }

  private CompletionStage<Event> delayed(RequestHandler plain, Invocation invocation)
      throws Exception {
    CompletionStage<Event> answered = plain.onRequest(invocation);
    if (delay.isZero()) {
      return answered;
    }
    return answered.thenCompose(
        event ->
            CompletableFuture.supplyAsync(
                () -> event,
                CompletableFuture.delayedExecutor(
                    delay.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)));
  }

  private void print(ReceivedEvent event) {
    try {
      context.out().write(EventFormat.RAW.line(event, false));
    } catch (BrokenPipe e) {
      done.completeExceptionally(e);
      return;
    }
    handled();
  }

  private void handled() {
    if (left.decrementAndGet() == 0) {
      done.complete(null);
    }
  }

  private void lost(String why) {
    done.completeExceptionally(
        new CliFailure(ExitCode.NOT_CONNECTED, "the bus closed the connection: " + why));
  }
}
