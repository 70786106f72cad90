package io.eventbus.server.transport;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.admission.AddressUsages;
import io.eventbus.server.admission.AuthenticationFailures;
import io.eventbus.server.admission.ConnectionLimit;
import io.eventbus.server.admission.ProxyNetworks;
import io.eventbus.server.call.BusCalls;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.queue.BlockBudgets;
import io.eventbus.server.routing.Router;
import io.eventbus.server.session.BusContext;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.tls.TlsSource;
import io.eventbus.server.transport.websocket.OriginCheck;
import io.eventbus.server.transport.websocket.UpgradeHandshake;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Listening socket and the loops behind it, from start to an orderly end. */
public final class TransportServer {
  /** Bytes that the system accepts for a client beyond what the network has room for. */
  private static final long UNSENT_BYTES = 128 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(TransportServer.class);

  private final ServerConfig config;
  private final EventLoops loops;
  private final BusContext bus;
  private final List<ConnectionLoop> states = new ArrayList<>();
  private final IdentityHashMap<EventLoop, ConnectionLoop> byLoop = new IdentityHashMap<>();
  private final ConnectionLimit limit;
  private final ConnectionAdmission admission;
  private final @Nullable TlsContexts tls;
  private final TlsTasks tlsTasks;
  private @Nullable Channel listening;

  /**
   * Prepares the loops; nothing listens yet.
   *
   * @param bus what all sessions share
   * @param onFatal called by a loop's thread when the bus cannot go on; must return at once
   * @throws ConfigException if the TLS files cannot be used
   */
  public TransportServer(
      ServerConfig config,
      EventLoops loops,
      BusContext bus,
      RouterFactory routers,
      BusCalls calls,
      Consumer<Throwable> onFatal) {
    this.config = config;
    this.loops = loops;
    this.bus = bus;
    this.tls = TlsContexts.of(config.tls()).orElse(null);
    BlockBudgets budgets = new BlockBudgets(config.timeouts().blockStallTime());
    for (int i = 0; i < loops.count(); i++) {
      ConnectionLoop state = new ConnectionLoop(i, loops.loop(i), config);
      state.onFatal(onFatal);
      Router router = routers.create(i, PooledByteBufAllocator.DEFAULT, state::flushSoon);
      LoopStats stats = bus.stats().loops().get(i);
      state.start(
          new LoopContext(
              bus,
              router,
              stats,
              PooledByteBufAllocator.DEFAULT,
              calls.start(i, new CallPort(state), stats.calls, stats.callsFromBuses)),
          budgets);
      states.add(state);
      byLoop.put(loops.loop(i), state);
    }
    loops.onHandOver(i -> states.get(i).context().router().flush());
    limit = ConnectionLimit.ofProcess(config.listen().maxConnections(), config.tls().enabled());
    admission =
        new ConnectionAdmission(
            limit,
            new AddressUsages(
                config.addresses(),
                bus.memory().limit(),
                config.limits().subscriptionBudget(),
                config.federation().filters(),
                bus.memory().limit(),
                new AuthenticationFailures(
                    new RateLimitedLog(LoggerFactory.getLogger("eventbus.audit")),
                    System::nanoTime),
                System::nanoTime),
            ProxyNetworks.of(config.listen().proxies()),
            bus.stats());
    tlsTasks = new TlsTasks(admission::tlsBusy);
    MemoryPressure.relieve(
        bus.memory(), states, bus.cluster()::dropLargestBacklog, bus.advisories());
  }

  /** Factory of the router of a loop. */
  public interface RouterFactory {
    /**
     * Creates a router.
     *
     * @param allocator where buffers come from
     */
    Router create(int loop, PooledByteBufAllocator allocator, Runnable flushDue);
  }

  /**
   * Starts to listen.
   *
   * @throws IOException if the address cannot be bound; the message says which
   */
  public void start() throws IOException {
    tellLimit();
    UpgradeHandshake handshake =
        new UpgradeHandshake(
            config.listen().path(),
            config.diagnostics().echoPath(),
            config.compression().enabled(),
            new OriginCheck(config.listen().allowedOrigins(), config.listen().host()));
    states.forEach(ConnectionLoop::startTicking);
    ServerBootstrap server =
        new ServerBootstrap()
            .group(loops.group())
            .channel(loops.serverChannel())
            .handler(new AcceptGuard(admission))
            .option(ChannelOption.SO_BACKLOG, config.listen().backlog())
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
            // Shared: it only makes the handle of each connection.
            .childOption(
                ChannelOption.RECVBUF_ALLOCATOR,
                new ReadBufferSizer(bus.memory().limit() / 8, bus.stats().connections::get))
            .childOption(
                ChannelOption.WRITE_BUFFER_WATER_MARK,
                new WriteBufferWaterMark(32 * 1024, 128 * 1024))
            .childHandler(
                new ConnectionInitializer(
                    byLoop,
                    handshake,
                    tls,
                    tlsTasks,
                    new TlsFailures(bus.stats(), bus.advisories()),
                    admission));
    if (loops.isEpoll()) {
      // Data that a client has not taken waits in the bus, where it is counted, and not in the
      // system: so the bus also sees soon what the client takes.
      server.childOption(EpollChannelOption.TCP_NOTSENT_LOWAT, UNSENT_BYTES);
    }
    ChannelFuture bound =
        server.bind(config.listen().host(), config.listen().port()).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(
          "cannot listen on "
              + config.listen().host()
              + ":"
              + config.listen().port()
              + ": "
              + bound.cause().getMessage()
              + " (choose another with listen.host and listen.port)",
          bound.cause());
    }
    listening = bound.channel();
    listening.pipeline().addLast(new AcceptFailures());
  }

  private void tellLimit() {
    int configured = config.listen().maxConnections();
    if (limit.connections() == configured) {
      return;
    }
    String line = "at most {} client connections, not {} as in listen.max-connections: {}";
    if (ConfigKey.LISTEN_MAX_CONNECTIONS.defaultText().equals(Integer.toString(configured))) {
      LOG.info(line, limit.connections(), configured, limit.message());
    } else {
      LOG.warn(line, limit.connections(), configured, limit.message());
    }
  }

  /** Returns how many client connections the bus takes. */
  public ConnectionLimit connectionLimit() {
    return limit;
  }

  /**
   * Returns the files of TLS for clients.
   *
   * @return nothing where TLS is off
   */
  public Optional<TlsSource> tls() {
    return Optional.ofNullable(tls).map(TlsContexts::source);
  }

  /**
   * Checks without listening: the files that a configuration names.
   *
   * @throws ConfigException if a file cannot be used; names it and the reason
   */
  public static void check(ServerConfig config) {
    TlsContexts.of(config.tls());
    ProxyNetworks.of(config.listen().proxies());
  }

  /** Returns where the bus listens. */
  public InetSocketAddress address() {
    Channel channel = listening;
    if (channel == null) {
      throw new IllegalStateException("the server has not been started");
    }
    return (InetSocketAddress) channel.localAddress();
  }

  /** Returns the context of each loop. */
  public List<LoopContext> contexts() {
    return states.stream().map(ConnectionLoop::context).toList();
  }

  /** Ends at once, where a loop no longer answers and an orderly end cannot be had. */
  public void abort() {
    if (listening != null) {
      listening.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
    }
    // First: a task that fails would find no loop to tell.
    tlsTasks.close();
    loops.close();
    states.forEach(ConnectionLoop::close);
  }

  /**
   * Ends in order: stop accepting, stop reading, write what is queued, close with 1001, wait for
   * the clients. Blocks for at most the configured time and a little more.
   *
   * @param last needs the loops, too; called when the clients are gone, with the {@link
   *     System#nanoTime} by which it should have ended
   */
  public void close(LongConsumer last) {
    long deadline = System.nanoTime() + config.timeouts().shutdown().toNanos();
    if (listening != null) {
      listening.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
    }
    new Shutdown(states, bus).run(deadline);
    last.accept(deadline);
    // First: a task that fails would find no loop to tell.
    tlsTasks.close();
    loops.close();
    contexts().forEach(LoopContext::close);
    states.forEach(ConnectionLoop::close);
  }
}
