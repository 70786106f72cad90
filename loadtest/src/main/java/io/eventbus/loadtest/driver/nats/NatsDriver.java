package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * NATS, core publish and subscribe: one server with its defaults on free ports, or several with
 * routes, and the Java client.
 */
public final class NatsDriver implements Driver {
  static final String PROGRAM = "nats-server";
  private static final Pattern VERSION = Pattern.compile("v(\\d+\\.\\d+\\.\\d+\\S*)");
  private static final Pattern WEB_SOCKET_PORT =
      Pattern.compile("websocket clients on ws://127\\.0\\.0\\.1:(\\d+)");
  static final Pattern TCP_PORT = Pattern.compile("client connections on 127\\.0\\.0\\.1:(\\d+)");

  /** Transport between clients and server. */
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

  /** Creates the driver; starts nothing. */
  public NatsDriver(Transport transport) {
    this.transport = transport;
  }

  @Override
  public String name() {
    return transport.driver;
  }

  /** Returns whether the server is there, and its version. */
  static Availability server() {
    return Programs.availability(PROGRAM, "--version", VERSION, "run loadtest/peers/install.sh");
  }

  @Override
  public Availability availability() {
    Availability found = server();
    return found.present()
        ? Availability.present(
            found.detail()
                + (transport.sharedThread ? " (own subscribers, jnats " : " (jnats ")
                + LibraryVersions.of("jnats")
                + ")")
        : found;
  }

  @Override
  public boolean hasClusters() {
    return true;
  }

  @Override
  public boolean hasCalls() {
    return !transport.sharedThread;
  }

  @Override
  public Session start(Workload workload) {
    return new NatsSession(servers(workload.cluster().servers()), workload, transport.sharedThread);
  }

  /** Starts so many servers. */
  NatsServers servers(int count) {
    Path program =
        Programs.find(PROGRAM).orElseThrow(() -> new DriverException(PROGRAM + " is absent"));
    return NatsServers.start(name(), program, transport.scheme, transport.port, count);
  }
}
