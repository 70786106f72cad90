package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * NATS, core publish and subscribe: one server with its defaults on free ports, and the Java
 * client.
 */
public final class NatsDriver implements Driver {
  private static final String PROGRAM = "nats-server";
  private static final Pattern VERSION = Pattern.compile("v(\\d+\\.\\d+\\.\\d+\\S*)");
  private static final Duration START = Duration.ofSeconds(20);
  private static final String READY = "[\\s\\S]*Server is ready";

  /** Port -1 is any free one; everything else is as it comes. */
  private static final String CONFIGURATION =
      """
      host: "127.0.0.1"
      port: -1
      websocket {
        host: "127.0.0.1"
        port: -1
        no_tls: true
      }
      """;

  private static final Pattern WEB_SOCKET_PORT =
      Pattern.compile("websocket clients on ws://127\\.0\\.0\\.1:(\\d+)" + READY);
  private static final Pattern TCP_PORT =
      Pattern.compile("client connections on 127\\.0\\.0\\.1:(\\d+)" + READY);

  /** How the clients reach the server. */
  public enum Transport {
    /** jnats over WebSocket. */
    WEB_SOCKET("nats", "ws", WEB_SOCKET_PORT, false),
    /** jnats over plain TCP, the way that NATS was made for. */
    TCP("nats-tcp", "nats", TCP_PORT, false),
    /** Over WebSocket, with subscribers of the load test's own that share one thread. */
    SHARED_THREAD("nats-nio", "ws", WEB_SOCKET_PORT, true);

    private final String driver;
    private final String scheme;
    private final Pattern port;
    private final boolean sharedThread;

    Transport(String driver, String scheme, Pattern port, boolean sharedThread) {
      this.driver = driver;
      this.scheme = scheme;
      this.port = port;
      this.sharedThread = sharedThread;
    }
  }

  private final Transport transport;

  /**
   * Makes the driver; starts nothing.
   *
   * @param transport how the client reaches the server
   */
  public NatsDriver(Transport transport) {
    this.transport = transport;
  }

  @Override
  public String name() {
    return transport.driver;
  }

  @Override
  public Availability availability() {
    Availability found =
        Programs.availability(PROGRAM, "--version", VERSION, "run loadtest/peers/install.sh");
    return found.present()
        ? Availability.present(
            found.detail()
                + (transport.sharedThread ? " (own subscribers, jnats " : " (jnats ")
                + LibraryVersions.of("jnats")
                + ")")
        : found;
  }

  @Override
  public Session start(Workload workload) {
    Path program =
        Programs.find(PROGRAM).orElseThrow(() -> new DriverException(PROGRAM + " is absent"));
    try {
      Path configuration = Files.createTempFile("loadtest-nats-", ".conf");
      try {
        Files.writeString(configuration, CONFIGURATION);
        return start(program, configuration, workload);
      } finally {
        // Once the server listens it has read it.
        Files.deleteIfExists(configuration);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Session start(Path program, Path configuration, Workload workload) {
    ServerProcess process =
        ServerProcess.start(
            name(), List.of(program.toString(), "-c", configuration.toString()), Map.of());
    try {
      String port = process.awaitOutput(transport.port, START).group(1);
      String url = transport.scheme + "://127.0.0.1:" + port;
      return new NatsSession(process, url, workload, transport.sharedThread);
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }
}
