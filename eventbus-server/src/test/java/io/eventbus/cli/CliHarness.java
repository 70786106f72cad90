package io.eventbus.cli;

import io.eventbus.cli.console.BusLauncher;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.ResultOutput;
import io.eventbus.server.config.ServerConfig;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Runs a command line in this JVM, with everything around it replaced. */
public final class CliHarness {
  public final Map<String, String> variables = new TreeMap<>();
  final ByteArrayOutputStream stdout = new ByteArrayOutputStream();
  final StringWriter stderr = new StringWriter();
  final List<ServerConfig> started = new ArrayList<>();
  OutputStream out = stdout;
  String stdin = "";
  boolean terminal;
  final CompletableFuture<String> failure = new CompletableFuture<>();
  BusLauncher launcher = this::start;

  /** Runs a command; returns its exit code. */
  public int run(String... arguments) {
    return new CommandRunner(
            new CliContext(
                new ByteArrayInputStream(stdin.getBytes(StandardCharsets.UTF_8)),
                new ResultOutput(out),
                new PrintWriter(stderr, true),
                variables,
                terminal,
                launcher))
        .run(arguments);
  }

  public String out() {
    return stdout.toString(StandardCharsets.UTF_8);
  }

  public String err() {
    return stderr.toString();
  }

  private BusLauncher.RunningBus start(ServerConfig config) throws IOException {
    started.add(config);
    return new BusLauncher.RunningBus() {
      @Override
      public String name() {
        return "bus-1";
      }

      @Override
      public URI uri() {
        return URI.create("ws://127.0.0.1:1/bus");
      }

      @Override
      public int adminPort() {
        return -1;
      }

      @Override
      public CompletionStage<String> failed() {
        return failure;
      }

      @Override
      public void close() {}
    };
  }
}
