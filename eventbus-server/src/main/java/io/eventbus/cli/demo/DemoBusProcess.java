package io.eventbus.cli.demo;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.server.config.ConfigKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Bus as a process of its own, of the same jar as this one. It ends when this process does, for
 * whatever reason: it is told which process to end with. Any thread.
 */
public final class DemoBusProcess {
  /** Main class by its name: the program depends on the demo, not the other way round. */
  private static final String PROGRAM = "io.eventbus.cli.Main";

  private static final Pattern LISTENS =
      Pattern.compile("listens on (ws://\\S+), administration on (http://\\S+)");

  private static final int TAIL_LINES = 20;

  private final String name;
  private final Process process;
  private final CompletableFuture<Address> address = new CompletableFuture<>();
  private final Deque<String> tail = new ArrayDeque<>();

  /**
   * Addresses of a bus.
   *
   * @param clients URL for clients
   */
  record Address(URI clients, URI admin) {}

  private DemoBusProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    Thread reader = new Thread(this::read, "log-of-" + name);
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * Starts a bus; it listens when {@link #await} has returned.
   *
   * @param settings configuration keys, {@code bus.name} among them; secrets are not shown to other
   *     users of the machine
   * @throws CliFailure if there can be no process
   */
  public static DemoBusProcess start(Map<ConfigKey, String> settings) {
    List<String> command = new ArrayList<>(java());
    command.addAll(List.of("serve", "--end-with", Long.toString(ProcessHandle.current().pid())));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    // Variables that configure this user's bus must not configure this one.
    builder.environment().keySet().removeIf(variable -> variable.startsWith("EVENTBUS_"));
    settings.forEach((key, value) -> builder.environment().put(key.variable(), value));
    String name = settings.getOrDefault(ConfigKey.BUS_NAME, "bus");
    try {
      return new DemoBusProcess(name, builder.start());
    } catch (IOException e) {
      throw new CliFailure(
          ExitCode.FAILED, "bus " + name + " cannot start: " + Failures.describe(e), e);
    }
  }

  /**
   * Returns the command line of this program: with the class path it does not matter whether that
   * is the jar.
   */
  private static List<String> java() {
    int version = Runtime.version().feature();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Several of them on one machine for less than a minute: options for a fast start and a small
    // heap.
    command.addAll(List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    if (version >= 22) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    if (version >= 23) {
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), PROGRAM));
    return command;
  }

  private void read() {
    try (InputStream in = process.getInputStream();
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        keep(line);
        Matcher listens = LISTENS.matcher(line);
        if (listens.find()) {
          address.complete(new Address(URI.create(listens.group(1)), URI.create(listens.group(2))));
        }
      }
    } catch (IOException e) {
      // The process was killed while it wrote.
      keep(e.toString());
    } finally {
      address.completeExceptionally(new IllegalStateException("it has ended"));
    }
  }

  private void keep(String line) {
    synchronized (tail) {
      if (tail.size() == TAIL_LINES) {
        tail.remove();
      }
      tail.add(line);
    }
  }

  /**
   * Waits until the bus listens.
   *
   * @throws CliFailure if it ends, or does not listen in time; with the last lines of its log
   */
  public Address await(Duration timeout) throws InterruptedException {
    try {
      return address.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw failure("has ended before it listened", e);
    } catch (TimeoutException e) {
      throw failure("does not listen within " + timeout.toSeconds() + " s", e);
    }
  }

  /** Returns an error about this bus, which ends with the last lines of its log. */
  CliFailure failure(String what, @Nullable Throwable cause) {
    List<String> lines;
    synchronized (tail) {
      lines = List.copyOf(tail);
    }
    return new CliFailure(
        ExitCode.FAILED,
        "bus " + name + " " + what + "; it said:\n" + String.join("\n", lines),
        cause);
  }

  String name() {
    return name;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Terminates it in order, as SIGTERM does. */
  void terminate() {
    process.destroy();
  }

  /** Ends it at once, without waiting. */
  void kill() {
    process.destroyForcibly();
  }

  /** Waits until it has ended; false when that takes too long. */
  boolean awaitEnd(Duration timeout) throws InterruptedException {
    return process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }
}
