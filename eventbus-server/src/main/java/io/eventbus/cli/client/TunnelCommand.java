package io.eventbus.cli.client;

import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.ResultOutput;
import io.eventbus.cli.console.StopHook;
import io.eventbus.cli.console.Text;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelOptions;
import io.eventbus.protocol.ServiceName;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
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

/** Opens tunnels to a service. */
@Command(
    name = "tunnel",
    description = {
      "Opens a tunnel to a member of a service: sends its standard input and writes what comes.",
      "With --listen it does so for each TCP connection to a port, until it is stopped."
    },
    footer = {
      "",
      "The end of the input is passed on; the command ends when the other end has ended, too.",
      "",
      "Examples:",
      "  eventbus tunnel archive < backup.tar",
      "  eventbus respond db --forward localhost:5432     # where the database is",
      "  eventbus tunnel db --listen 15432                # elsewhere: a port that leads to it"
    })
public final class TunnelCommand implements Callable<Integer> {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  @Mixin ConnectOptions connection = new ConnectOptions();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "SERVICE", description = "Where to.")
  String service = "";

  @Option(
      names = {"-l", "--listen"},
      paramLabel = "[HOST:]PORT",
      description =
          "Listens on this TCP port, of the loopback address without HOST; 0 for any that is free.")
  @Nullable String listen;

  @Option(
      names = {"-c", "--connections"},
      paramLabel = "N",
      defaultValue = "100",
      description = "With --listen: at most N at once (default: ${DEFAULT-VALUE}).")
  int connections = 100;

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
      description = "How long to wait until a member accepts it (default: ${DEFAULT-VALUE}).")
  Duration timeout = Duration.ofSeconds(30);

  private final CliContext context;
  private final AtomicBoolean stopped = new AtomicBoolean();

  TunnelCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    TunnelOptions options = check();
    InetSocketAddress address = address();
    Warnings warnings = new Warnings(context.err(), why -> {});
    try (EventBusClient client = connection.connect(context.variables(), warnings);
        TunnelPipe pipe = new TunnelPipe()) {
      return address == null ? one(client, pipe, options) : listen(client, pipe, options, address);
    }
  }

  private TunnelOptions check() {
    String problem = ServiceName.problem(service);
    if (problem != null) {
      throw new ParameterException(spec.commandLine(), "SERVICE: " + problem);
    }
    if (connections < 1 || connections > 10_000) {
      throw new ParameterException(
          spec.commandLine(), "--connections: " + connections + " (expected: 1 to 10000)");
    }
    try {
      return TunnelOptions.DEFAULT.withRequest(
          RequestOptions.DEFAULT.withTimeout(timeout).withMethod(method));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private @Nullable InetSocketAddress address() {
    String given = listen;
    if (given == null) {
      return null;
    }
    int colon = given.lastIndexOf(':');
    int port = port(given.substring(colon + 1));
    if (port < 0 || colon == 0) {
      throw new ParameterException(
          spec.commandLine(),
          "--listen: " + given + " (expected: [HOST:]PORT, with a port from 0 to 65535)");
    }
    return colon < 0
        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
        : new InetSocketAddress(given.substring(0, colon).replaceAll("^\\[(.*)]$", "$1"), port);
  }

  /** Returns the number of a port; -1 if it is none. */
  static int port(String text) {
    if (!text.matches("[0-9]{1,5}")) {
      return -1;
    }
    int port = Integer.parseInt(text);
    return port <= 65_535 ? port : -1;
  }

  private int one(EventBusClient client, TunnelPipe pipe, TunnelOptions options) {
    Tunnel tunnel = open(client, options);
    pipe.start(
        () -> {
          try {
            TunnelPipe.send(context.in(), tunnel);
          } catch (IOException e) {
            // A reader of a failed tunnel reports the failure.
            tunnel.reset("io", "the input has failed");
          }
        });
    try {
      TunnelPipe.receive(tunnel, new Result(context.out()));
      tunnel.closed().toCompletableFuture().join();
      return ExitCode.OK;
    } catch (IOException | CompletionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new CliFailure(
          ExitCode.FAILED, "the tunnel has failed: " + Text.printable(Failures.describe(cause)), e);
    }
  }

  /** Stream of incoming bytes to standard output. */
  private static final class Result extends OutputStream {
    private final ResultOutput out;

    Result(ResultOutput out) {
      this.out = out;
    }

    @Override
    public void write(int b) {
      out.write(new byte[] {(byte) b});
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
      out.write(Arrays.copyOfRange(bytes, from, from + length));
    }
  }

  private Tunnel open(EventBusClient client, TunnelOptions options) {
    try {
      return client.tunnel(service, options).join();
    } catch (CompletionException e) {
      Throwable cause = Failures.unwrap(e);
      boolean unexecuted = cause instanceof CallFailed failed && failed.executed() == Execution.NO;
      throw new CliFailure(
          unexecuted ? ExitCode.NOT_EXECUTED : ExitCode.FAILED,
          "no tunnel to " + service + ": " + Text.printable(Failures.describe(cause)),
          cause);
    }
  }

  private int listen(
      EventBusClient client, TunnelPipe pipe, TunnelOptions options, InetSocketAddress address)
      throws InterruptedException {
    try (ServerSocket server = new ServerSocket()) {
      server.bind(address);
      StopHook hook = new StopHook(() -> stop(server, client));
      try {
        context
            .err()
            .println(
                "eventbus: listens on "
                    + server.getInetAddress().getHostAddress()
                    + ":"
                    + server.getLocalPort());
        context.err().flush();
        accept(client, pipe, options, server);
      } finally {
        hook.close();
      }
    } catch (IOException e) {
      if (!stopped.get()) {
        throw new CliFailure(
            ExitCode.FAILED, "cannot listen on " + listen + ": " + e.getMessage(), e);
      }
    }
    return ExitCode.OK;
  }

  private void stop(ServerSocket server, EventBusClient client) {
    stopped.set(true);
    try {
      server.close();
    } catch (IOException e) {
      // Nothing is accepted any more either way.
      context.err().println("eventbus: " + e.getMessage());
    }
    client.close(CLOSE_TIMEOUT);
  }

  private void accept(
      EventBusClient client, TunnelPipe pipe, TunnelOptions options, ServerSocket server)
      throws IOException, InterruptedException {
    Semaphore free = new Semaphore(connections);
    while (!stopped.get()) {
      free.acquire();
      Socket socket = server.accept();
      pipe.start(
          () -> {
            try {
              socket.setTcpNoDelay(true);
              pipe.join(open(client, options), socket, free::release);
            } catch (IOException | CliFailure e) {
              context.err().println("eventbus: " + e.getMessage());
              context.err().flush();
              TunnelPipe.close(socket);
              free.release();
            }
          });
    }
  }
}
