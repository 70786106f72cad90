package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A server with its defaults, or several with routes between all of them, also with the defaults of
 * these. For one thread.
 */
final class NatsServers implements AutoCloseable {
  private static final Duration START = Duration.ofSeconds(20);
  private static final Duration TOGETHER = Duration.ofSeconds(60);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final Pattern READY = Pattern.compile("Server is ready");
  private static final Pattern MONITOR = Pattern.compile("http monitor on (127\\.0\\.0\\.1:\\d+)");

  /** Port -1 is any free one; everything else is as it comes. */
  private static final String ALONE =
      """
      host: "127.0.0.1"
      port: -1
      websocket {
        host: "127.0.0.1"
        port: -1
        no_tls: true
      }
      """;

  /** Each has routes to all: JetStream does not start at a server that has none. */
  private static final String MEMBER =
      """
      http: "127.0.0.1:-1"
      cluster {
        name: "loadtest"
        host: "127.0.0.1"
        port: %d
        routes: [%s]
      }
      """;

  private final List<NatsServer> servers = new ArrayList<>();

  /** Starts servers, and waits until they are linked. */
  static NatsServers start(String name, Path program, String scheme, Pattern port, int count) {
    return start(name, program, scheme, port, count, server -> "");
  }

  /**
   * As above.
   *
   * @param more further configuration of the server with a number, from 0
   */
  static NatsServers start(
      String name, Path program, String scheme, Pattern port, int count, IntFunction<String> more) {
    NatsServers all = new NatsServers();
    try {
      List<Integer> links = FreePorts.find(count);
      String routes =
          links.stream()
              .map(link -> "\"nats://127.0.0.1:" + link + "\"")
              .collect(Collectors.joining(", "));
      for (int i = 0; i < count; i++) {
        String configuration = count == 1 ? ALONE : ALONE + MEMBER.formatted(links.get(i), routes);
        ServerProcess process = launch(name, program, configuration + more.apply(i));
        try {
          String url = scheme + "://127.0.0.1:" + process.awaitOutput(port, START).group(1);
          String monitor = "";
          if (count > 1) {
            monitor = "http://" + process.awaitOutput(MONITOR, START).group(1);
          }
          all.servers.add(new NatsServer(process, url, monitor));
        } catch (RuntimeException e) {
          process.close();
          throw e;
        }
      }
      if (count > 1) {
        for (NatsServer server : all.servers) {
          await(() -> server.isLinked(count - 1), server.url() + " is not linked with the others");
        }
      }
      return all;
    } catch (RuntimeException e) {
      all.close();
      throw e;
    }
  }

  private static ServerProcess launch(String name, Path program, String configuration) {
    try {
      Path file = Files.createTempFile("loadtest-nats-", ".conf");
      try {
        Files.writeString(file, configuration);
        ServerProcess process =
            ServerProcess.start(name, List.of(program.toString(), "-c", file.toString()), Map.of());
        try {
          // Then it has read the file.
          process.awaitOutput(READY, START);
        } catch (RuntimeException e) {
          process.close();
          throw e;
        }
        return process;
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(BooleanSupplier condition, String problem) {
    long end = System.nanoTime() + TOGETHER.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new DriverException(problem + " after " + TOGETHER.toSeconds() + " s");
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /**
   * Waits until one of several servers knows that others have subscribers of a subject.
   *
   * @param others numbers of servers; itself does not count
   */
  void awaitInterest(int at, String subject, Set<Integer> others) {
    Set<String> ids = new HashSet<>();
    for (int other : others) {
      if (other != at) {
        ids.add(servers.get(other).id());
      }
    }
    if (!ids.isEmpty()) {
      await(
          () -> servers.get(at).interested(subject).containsAll(ids),
          servers.get(at).url() + " does not know of all subscribers of " + subject);
    }
  }

  NatsServer get(int server) {
    return servers.get(server);
  }

  List<Long> pids() {
    return servers.stream().map(server -> server.process().pid()).toList();
  }

  @Override
  public void close() {
    servers.forEach(NatsServer::close);
  }
}
