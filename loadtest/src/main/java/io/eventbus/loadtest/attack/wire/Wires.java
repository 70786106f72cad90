package io.eventbus.loadtest.attack.wire;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Opens connections to one bus, from one or more addresses of this machine. Any thread. */
public final class Wires implements AutoCloseable {
  private static final int CONNECT_MILLIS = 5_000;
  private static final int FIRST_SOURCE = 2;

  private final BusAddress bus;
  private final int sources;
  private final WireCounts counts;
  private final EventLoopGroup loops;
  private final boolean epoll = Epoll.isAvailable();
  private final @Nullable SslContext tls;
  private final AtomicInteger next = new AtomicInteger();

  /**
   * Starts its threads.
   *
   * @param bus where to
   * @param sources connect from 127.0.0.2 and so many addresses in turn; 0 for 127.0.0.1 alone
   */
  public Wires(BusAddress bus, int threads, int sources, WireCounts counts) {
    this.bus = bus;
    this.sources = sources;
    this.counts = counts;
    this.loops =
        new MultiThreadIoEventLoopGroup(
            threads, epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    this.tls = bus.tls() ? trusting() : null;
  }

  private static SslContext trusting() {
    try {
      // The certificate was made a moment ago, by the one who asks.
      return SslContextBuilder.forClient()
          .trustManager(InsecureTrustManagerFactory.INSTANCE)
          .endpointIdentificationAlgorithm("")
          .build();
    } catch (SSLException e) {
      throw new IllegalStateException("no TLS", e);
    }
  }

  /** Returns where the connections lead. */
  public BusAddress bus() {
    return bus;
  }

  /** Opens a connection for clients, from the next address. */
  public void open(Opening opening, AttackPeer peer) {
    connect(opening, peer, bus.port(), source(), true);
  }

  /** Opens a connection for clients as a well-behaved one, from 127.0.0.1. */
  public void openHonest(Opening opening, AttackPeer peer) {
    connect(opening, peer, bus.port(), 1, true);
  }

  /**
   * Opens a TCP connection without TLS.
   *
   * @param port where to
   */
  public void openTcp(int port, AttackPeer peer) {
    connect(Opening.tcp(), peer, port, source(), false);
  }

  /**
   * Opens a TCP connection without TLS from one address.
   *
   * @param port where to
   */
  public void openTcp(int port, int source, AttackPeer peer) {
    connect(Opening.tcp(), peer, port, source, false);
  }

  private int source() {
    return sources == 0 ? 1 : FIRST_SOURCE + Math.floorMod(next.getAndIncrement(), sources);
  }

  private void connect(Opening opening, AttackPeer peer, int port, int source, boolean secure) {
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loops)
            .channel(epoll ? EpollSocketChannel.class : NioSocketChannel.class)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .option(ChannelOption.TCP_NODELAY, true)
            .localAddress(new InetSocketAddress(loopback(source), 0))
            .handler(new Setup(opening, peer, secure));
    if (opening.receiveBuffer() > 0) {
      bootstrap.option(ChannelOption.SO_RCVBUF, opening.receiveBuffer());
    }
    if (loops.isShuttingDown()) {
      return;
    }
    var connecting = bootstrap.connect(new InetSocketAddress(loopback(1), port));
    connecting.addListener(
        done -> {
          if (!done.isSuccess()) {
            counts.failed();
            AttackWire wire = new AttackWire(connecting.channel(), peer, opening, counts);
            peer.closed(wire, AttackPeer.NO_CLOSE);
          }
        });
  }

  private static InetAddress loopback(int last) {
    try {
      return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
    } catch (UnknownHostException e) {
      throw new IllegalStateException("four octets are no address", e);
    }
  }

  private final class Setup extends ChannelInitializer<Channel> {
    private final Opening opening;
    private final AttackPeer peer;
    private final boolean secure;

    Setup(Opening opening, AttackPeer peer, boolean secure) {
      this.opening = opening;
      this.peer = peer;
      this.secure = secure;
    }

    @Override
    protected void initChannel(Channel channel) {
      if (secure && tls != null) {
        channel.pipeline().addLast(tls.newHandler(channel.alloc()));
      }
      channel.pipeline().addLast(new AttackWire(channel, peer, opening, counts).handler());
    }
  }

  /** Ends all connections and waits for the threads, a second at most. */
  @Override
  public void close() {
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
