package io.eventbus.server.admin;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.tls.TlsFiles;
import io.eventbus.server.tls.TlsSource;
import io.eventbus.server.view.BusHealth;
import io.eventbus.server.view.BusView;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Administration port: health, metrics and the API as JSON over HTTP. It listens before the bus
 * does, so that the start of a bus can be watched.
 *
 * <p>Nothing here slows a loop of the bus. One thread has all the sockets, reads requests and
 * answers for health, another computes all answers that need no waiting, and a few answer the
 * requests that wait.
 */
public final class AdminServer implements AutoCloseable {
  /**
   * Maximum of threads that answer requests that wait, created on demand: those that wait for the
   * registry and for other buses take half of them at most.
   */
  static final int THREADS = 16;

  /** Maximum of requests that wait for a thread. */
  static final int MAX_QUEUED = 128;

  static final int MAX_CONNECTIONS = 1024;

  /**
   * Backlog of as many connections as may be open: else a crowd that connects pushes out the first
   * packets of others.
   */
  private static final int BACKLOG = MAX_CONNECTIONS;

  private static final int CLOSE_SECONDS = 2;

  private final EventLoopGroup sockets;

  /** Open channels: a loop that ends leaves the port in use until it is closed. */
  private final ChannelGroup channels;

  private final int port;
  private final ThreadPoolExecutor threads;
  private final AnswerThread answers;
  private final AdminHandler handler;
  private final AdminLogin login;
  private final AdminRole metricsRole;
  private final LateAnswers late;
  private final @Nullable AdminTls tls;
  private @Nullable BusMetrics metrics;
  private @Nullable RegistryApi registry;

  private AdminServer(
      EventLoopGroup sockets,
      ChannelGroup channels,
      int port,
      ThreadPoolExecutor threads,
      AnswerThread answers,
      AdminHandler handler,
      AdminLogin login,
      AdminRole metricsRole,
      LateAnswers late,
      @Nullable AdminTls tls) {
    this.sockets = sockets;
    this.channels = channels;
    this.port = port;
    this.threads = threads;
    this.answers = answers;
    this.handler = handler;
    this.login = login;
    this.metricsRole = metricsRole;
    this.late = late;
    this.tls = tls;
  }

  /**
   * Starts to listen, before there is a bus: callers hear that it starts (503, and {@code /healthz}
   * 200).
   *
   * @param config where to listen; {@link AdminConfig#enabled()} does not matter
   * @param starting health of the bus until {@link #serve}; called by several threads
   * @throws ConfigException if the file of the token, or one of TLS, cannot be used
   * @throws IOException if the address cannot be bound; trying again helps only when another
   *     process releases the port
   */
  public static AdminServer start(
      AdminConfig config, Supplier<BusHealth> starting, Advisories advisories, int maxConnections)
      throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getByName(config.host()), config.port());
    AdminLogin login = new AdminLogin(config);
    AdminTls tls = TlsFiles.administration(config.access()).map(AdminTls::new).orElse(null);
    LateAnswers late = new LateAnswers(new ProvedAddresses(System::nanoTime));
    AdminHandler handler =
        new AdminHandler(
            new AdminHandler.Guards(
                new HostGuard(config, address.getAddress()), login, late, advisories),
            AdminApi.starting(starting),
            new AdminFailures());
    ThreadPoolExecutor threads = threads();
    AnswerThread answers = new AnswerThread();
    EventLoopGroup sockets =
        new MultiThreadIoEventLoopGroup(
            1,
            task -> {
              Thread thread = new FastThreadLocalThread(task, "eventbus-admin-io");
              thread.setDaemon(true);
              return thread;
            },
            NioIoHandler.newFactory());
    ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    AdminConnections all = new AdminConnections(Math.min(MAX_CONNECTIONS, maxConnections));
    ChannelFuture bound =
        new ServerBootstrap()
            .group(sockets)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel accepted) {
                    channels.add(accepted);
                    InetSocketAddress client = accepted.remoteAddress();
                    if (client == null) {
                      // The client has left already.
                      var unused = accepted.close();
                    } else {
                      new AdminConnection(accepted, client, all, handler, threads, answers, tls)
                          .begin();
                    }
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      late.close();
      close(sockets);
      throw new IOException(
          "the administration port cannot listen on "
              + config.host()
              + ":"
              + config.port()
              + ": "
              + bound.cause().getMessage()
              + " (choose another with admin.host and admin.port)",
          bound.cause());
    }
    Channel listening = bound.channel();
    channels.add(listening);
    listening.pipeline().addLast(new AcceptFailures());
    return new AdminServer(
        sockets,
        channels,
        ((InetSocketAddress) listening.localAddress()).getPort(),
        threads,
        answers,
        handler,
        login,
        config.access().metricsOpen() ? AdminRole.NONE : AdminRole.VIEWER,
        late,
        tls);
  }

  /**
   * Logs that no connection could be accepted, most likely because descriptors have run out. Netty
   * tries again after a second.
   */
  private static final class AcceptFailures extends ChannelInboundHandlerAdapter {
    private final RateLimitedLog log =
        new RateLimitedLog(LoggerFactory.getLogger(AdminServer.class));

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      log.warn("accept", "the administration port can accept no connection for now: {}", cause);
    }
  }

  /**
   * Serves a bus from now on. To be called once at most, and not beside {@link #close}.
   *
   * @param operators methods by which callers log in
   * @param permissions tells which journals callers manage that are no operators
   */
  public void serve(BusView bus, List<LoginMethod> operators, PermissionPolicy permissions) {
    login.serve(operators, permissions);
    BusMetrics figures = new BusMetrics(bus, () -> tls == null ? 0 : tls.failures());
    WaitingCalls calls = new WaitingCalls("the registry");
    RegistryApi changes = new RegistryApi(bus, calls);
    metrics = figures;
    registry = changes;
    handler.serve(
        new AdminApi(
                bus,
                figures,
                changes,
                new RevocationApi(bus, calls, Clock.systemUTC()),
                new JournalApi(bus, new WaitingCalls("the journals"), login::journals),
                metricsRole)
            .routes());
  }

  /** Returns the files of TLS; empty if TLS is off. */
  public Optional<TlsSource> tls() {
    return Optional.ofNullable(tls).map(AdminTls::source);
  }

  /**
   * Checks without listening: the files that the configuration names.
   *
   * @throws ConfigException if a file cannot be used
   */
  public static void check(AdminConfig config) {
    if (config.enabled()) {
      config.access().token().read();
      TlsFiles.administration(config.access()).ifPresent(AdminTls::new);
    }
  }

  /** Returns the TCP port that it listens on, also if 0 was configured. */
  public int port() {
    return port;
  }

  /** Stops listening and closes all connections at once. Does nothing the second time. */
  @Override
  public void close() {
    channels.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
    close(sockets);
    threads.shutdownNow();
    answers.close();
    late.close();
    if (registry != null) {
      registry.close();
    }
    if (metrics != null) {
      metrics.close();
    }
  }

  private static void close(EventLoopGroup sockets) {
    sockets
        .shutdownGracefully(0, 1, TimeUnit.SECONDS)
        .awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
  }

  private static ThreadPoolExecutor threads() {
    AtomicInteger number = new AtomicInteger();
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_QUEUED),
            task -> {
              Thread thread = new Thread(task, "eventbus-admin-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }
}
