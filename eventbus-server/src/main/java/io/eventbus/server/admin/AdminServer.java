package io.eventbus.server.admin;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsServer;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.tls.TlsFiles;
import io.eventbus.server.tls.TlsSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The administration port, on the JDK's HTTP server: health, metrics and the API as JSON. It
 * listens before the bus does, so that the start of a bus can be watched.
 *
 * <p>It has its own threads, so that nothing that happens here slows an event loop. A request that
 * is not there within {@value #REQUEST_SECONDS} s, or an answer that is not taken within {@value
 * #RESPONSE_SECONDS} s, costs the connection.
 */
public final class AdminServer implements AutoCloseable {
  static final int REQUEST_SECONDS = 3;
  static final int RESPONSE_SECONDS = 10;

  /**
   * The JDK's server reads a request on one of these threads, for up to {@value #REQUEST_SECONDS} s
   * where it comes slowly. So many that a stranger without a login has to begin dozens each second
   * to take them all, and that all answers that {@link LateAnswers} and the registry let wait leave
   * most of them; they are made when they are needed.
   */
  static final int THREADS = 256;

  /**
   * Connections beyond are closed at once. So many that hundreds of silent ones keep no other
   * client away.
   */
  static final int MOST_CONNECTIONS = 1024;

  /**
   * How often the JDK's server looks for connections that have said nothing; its default is 10 s.
   */
  private static final int IDLE_CHECK_MILLIS = 250;

  /**
   * Connections that the system keeps until they are accepted: with fewer than may be open, the
   * first packets of a crowd that guesses push others' out, which come again after a second.
   */
  private static final int BACKLOG = MOST_CONNECTIONS;

  private final HttpServer server;
  private final ThreadPoolExecutor executor;
  private final AdminHandler handler;
  private final AdminLogin login;
  private final AdminRole metricsRole;
  private final LateAnswers late;
  private final FirstRequests first;
  private final @Nullable AdminTls tls;
  private @Nullable BusMetrics metrics;
  private @Nullable RegistryApi registry;

  private AdminServer(
      HttpServer server,
      ThreadPoolExecutor executor,
      AdminHandler handler,
      AdminLogin login,
      AdminRole metricsRole,
      LateAnswers late,
      FirstRequests first,
      @Nullable AdminTls tls) {
    this.server = server;
    this.executor = executor;
    this.handler = handler;
    this.login = login;
    this.metricsRole = metricsRole;
    this.late = late;
    this.first = first;
    this.tls = tls;
  }

  /**
   * Starts to listen, before there is a bus: whoever asks is told that it starts (503, and {@code
   * /healthz} 200).
   *
   * @param config where to listen; {@link AdminConfig#enabled()} is not looked at
   * @param starting how the bus is until {@link #serve}; called by several threads
   * @param advisories told of what operators do
   * @param mostConnections connections for which there are descriptors; the first server of a JVM
   *     sets it for all
   * @return the running server
   * @throws ConfigException if the file of the token, or one of TLS, cannot be used
   * @throws IOException if the address cannot be bound; trying again helps only when somebody else
   *     gives up the port
   */
  public static AdminServer start(
      AdminConfig config, Supplier<BusHealth> starting, Advisories advisories, int mostConnections)
      throws IOException {
    limitTheJdkServer(Math.min(MOST_CONNECTIONS, mostConnections));
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getByName(config.host()), config.port());
    AdminLogin login = new AdminLogin(config);
    ProvedAddresses proved = new ProvedAddresses(System::nanoTime);
    FirstRequests first = new FirstRequests(proved);
    AdminTls tls = TlsFiles.administration(config.access()).map(AdminTls::new).orElse(null);
    HttpServer server;
    if (tls == null) {
      server = HttpServer.create(address, BACKLOG);
    } else {
      HttpsServer encrypted = HttpsServer.create(address, BACKLOG);
      encrypted.setHttpsConfigurator(tls.configurator(first));
      server = encrypted;
    }
    ThreadPoolExecutor executor = executor();
    server.setExecutor(
        task ->
            executor.execute(
                () -> {
                  try {
                    task.run();
                  } finally {
                    first.leave();
                  }
                }));
    HostGuard guard = new HostGuard(config, address.getAddress());
    LateAnswers late = new LateAnswers(proved);
    AdminHandler handler =
        new AdminHandler(
            new AdminHandler.Guards(guard, first, login, late, advisories),
            AdminApi.starting(starting),
            new AdminFailures());
    server.createContext("/", handler);
    server.start();
    return new AdminServer(
        server,
        executor,
        handler,
        login,
        config.access().metricsOpen() ? AdminRole.NONE : AdminRole.VIEWER,
        late,
        first,
        tls);
  }

  /**
   * Shows a bus from now on. To be called once at most, and not beside {@link #close}.
   *
   * @param bus what to show
   * @param operators ways for operators to prove who they are, besides the token
   */
  public void serve(BusView bus, List<LoginMethod> operators) {
    login.serve(operators);
    BusMetrics figures = new BusMetrics(bus, first::failed);
    RegistryCalls calls = new RegistryCalls();
    RegistryApi changes = new RegistryApi(bus, calls);
    metrics = figures;
    registry = changes;
    handler.serve(
        new AdminApi(
                bus,
                figures,
                changes,
                new RevocationApi(bus, calls, Clock.systemUTC()),
                metricsRole)
            .routes());
  }

  /**
   * Returns the files of TLS.
   *
   * @return nothing where TLS is off
   */
  public Optional<TlsSource> tls() {
    return Optional.ofNullable(tls).map(AdminTls::source);
  }

  /**
   * Checks what can be checked without listening: the files that the configuration names.
   *
   * @param config where to listen, and who may call
   * @throws ConfigException if a file cannot be used
   */
  public static void check(AdminConfig config) {
    if (config.enabled()) {
      config.access().token().read();
      TlsFiles.administration(config.access()).ifPresent(AdminTls::new);
    }
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
    late.close();
    if (registry != null) {
      registry.close();
    }
    if (metrics != null) {
      metrics.close();
    }
  }

  /**
   * The JDK's server has no deadlines unless these properties of the JVM set them. One that has not
   * sent a byte has the time for a request, and that is checked by the timer for idle ones. It
   * writes an answer in two pieces: without {@code nodelay} the second one waits until the client
   * has acknowledged the first, for 40 ms on Linux.
   */
  private static void limitTheJdkServer(int mostConnections) {
    Map.of(
            "sun.net.httpserver.maxReqTime", Integer.toString(REQUEST_SECONDS),
            "sun.net.httpserver.maxRspTime", Integer.toString(RESPONSE_SECONDS),
            "sun.net.httpserver.clockTick", Integer.toString(IDLE_CHECK_MILLIS),
            "sun.net.httpserver.nodelay", "true",
            "jdk.httpserver.maxConnections", Integer.toString(mostConnections))
        .forEach(
            (name, value) -> {
              if (System.getProperty(name) == null) {
                System.setProperty(name, value);
              }
            });
  }

  /** When all threads are busy, the JDK's server closes the connection. */
  private static ThreadPoolExecutor executor() {
    AtomicInteger number = new AtomicInteger();
    return new ThreadPoolExecutor(
        0,
        THREADS,
        30,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        task -> {
          Thread thread = new Thread(task, "eventbus-admin-" + number.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        });
  }
}
