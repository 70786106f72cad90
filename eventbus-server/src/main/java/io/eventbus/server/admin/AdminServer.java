package io.eventbus.server.admin;

import com.sun.net.httpserver.HttpServer;
import io.eventbus.server.config.AdminConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The administration port, on the JDK's HTTP server: health, metrics and the API as JSON.
 *
 * <p>It has its own few threads, so that nothing that happens here slows an event loop. A request
 * that is not there within {@value #REQUEST_SECONDS} s, or an answer that is not taken within
 * {@value #RESPONSE_SECONDS} s, costs the connection.
 */
public final class AdminServer implements AutoCloseable {
  static final int REQUEST_SECONDS = 3;
  static final int RESPONSE_SECONDS = 10;

  /** Some more than may wait for the registry. */
  static final int THREADS = 3 + RegistryApi.MAX_OPERATIONS + RegistryApi.MAX_WATCHERS;

  /**
   * Connections beyond are closed at once. So many that hundreds of silent ones keep no other
   * client away.
   */
  static final int MOST_CONNECTIONS = 1024;

  private static final int WAITING_REQUESTS = 64;

  /**
   * How often the JDK's server looks for connections that have said nothing; its default is 10 s.
   */
  private static final int IDLE_CHECK_MILLIS = 250;

  private static final int BACKLOG = 64;

  private final HttpServer server;
  private final ThreadPoolExecutor executor;
  private final BusMetrics metrics;
  private final RegistryApi registry;

  private AdminServer(
      HttpServer server, ThreadPoolExecutor executor, BusMetrics metrics, RegistryApi registry) {
    this.server = server;
    this.executor = executor;
    this.metrics = metrics;
    this.registry = registry;
  }

  /**
   * Starts to listen.
   *
   * @param config where to listen; {@link AdminConfig#enabled()} is not looked at
   * @param bus what to show
   * @param mostConnections connections for which there are descriptors; the first server of a JVM
   *     sets it for all
   * @return the running server
   * @throws IOException if the address cannot be bound; trying again helps only when somebody else
   *     gives up the port
   */
  public static AdminServer start(AdminConfig config, BusView bus, int mostConnections)
      throws IOException {
    limitTheJdkServer(Math.min(MOST_CONNECTIONS, mostConnections));
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getByName(config.host()), config.port());
    HttpServer server = HttpServer.create(address, BACKLOG);
    ThreadPoolExecutor executor = executor();
    BusMetrics metrics = new BusMetrics(bus);
    server.setExecutor(executor);
    HostGuard guard = new HostGuard(config, address.getAddress());
    RegistryApi registry = new RegistryApi(bus);
    AdminApi api = new AdminApi(bus, metrics, registry);
    server.createContext("/", new AdminHandler(guard, api.routes()));
    server.start();
    return new AdminServer(server, executor, metrics, registry);
  }

  /**
   * Tells the port that it listens on.
   *
   * @return the TCP port, also when 0 was configured
   */
  public int port() {
    return server.getAddress().getPort();
  }

  /** Stops listening and closes all connections at once. Does nothing the second time. */
  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
    registry.close();
    metrics.close();
  }

  /**
   * The JDK's server has no deadlines unless these properties of the JVM set them. One that has not
   * sent a byte has the time for a request, and that is checked by the timer for idle ones.
   */
  private static void limitTheJdkServer(int mostConnections) {
    Map.of(
            "sun.net.httpserver.maxReqTime", REQUEST_SECONDS,
            "sun.net.httpserver.maxRspTime", RESPONSE_SECONDS,
            "sun.net.httpserver.clockTick", IDLE_CHECK_MILLIS,
            "jdk.httpserver.maxConnections", mostConnections)
        .forEach(
            (name, value) -> {
              if (System.getProperty(name) == null) {
                System.setProperty(name, Integer.toString(value));
              }
            });
  }

  /** When all threads are busy and the queue is full, the JDK's server closes the connection. */
  private static ThreadPoolExecutor executor() {
    AtomicInteger number = new AtomicInteger();
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING_REQUESTS),
            task -> {
              Thread thread = new Thread(task, "eventbus-admin-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }
}
