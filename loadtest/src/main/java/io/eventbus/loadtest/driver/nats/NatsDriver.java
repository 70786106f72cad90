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

  /** How the client reaches the server. */
  public enum Transport {
    /** Over WebSocket, as browsers have to. */
    WEB_SOCKET(
        "nats", "ws", Pattern.compile("websocket clients on ws://127\\.0\\.0\\.1:(\\d+)" + READY)),
    /** Over plain TCP, the way that NATS was made for. */
    TCP(
        "nats-tcp",
        "nats",
        Pattern.compile("client connections on 127\\.0\\.0\\.1:(\\d+)" + READY));

    private final String driver;
    private final String scheme;
    private final Pattern port;

    Transport(String driver, String scheme, Pattern port) {
      this.driver = driver;
      this.scheme = scheme;
      this.port = port;
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
        ? Availability.present(found.detail() + " (jnats " + LibraryVersions.of("jnats") + ")")
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
      return new NatsSession(process, transport.scheme + "://127.0.0.1:" + port, workload);
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }
}
