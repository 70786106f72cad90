package io.eventbus.server.transport;

import io.eventbus.server.stats.BusCounters;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.util.IdentityHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Sets up a connection that was just accepted. Shared by all loops. */
// A write or close that fails ends the channel, and that is what is acted on: not each future.
@SuppressWarnings("FutureReturnValueIgnored")
final class ConnectionInitializer extends ChannelInitializer<Channel> {
  private static final int MAX_REQUEST_LINE = 4096;
  private static final int MAX_REQUEST_HEADERS = 32 * 1024;

  /** Connections too many that are told so; those beyond are closed without a word. */
  private static final int MOST_REFUSED = 64;

  private final IdentityHashMap<EventLoop, LoopState> loops;
  private final Handshake handshake;
  private final @Nullable SslContext tls;
  private final BusCounters stats;
  private final AtomicInteger refused = new AtomicInteger();

  ConnectionInitializer(
      IdentityHashMap<EventLoop, LoopState> loops,
      Handshake handshake,
      @Nullable SslContext tls,
      BusCounters stats) {
    this.loops = loops;
    this.handshake = handshake;
    this.tls = tls;
    this.stats = stats;
  }

  @Override
  protected void initChannel(Channel channel) {
    LoopState loop = loops.get(channel.eventLoop());
    if (loop == null) {
      throw new IllegalStateException("a connection on an unknown loop");
    }
    stats.accepted.increment();
    boolean tooMany = stats.connections.incrementAndGet() > loop.config().listen().maxConnections();
    AtomicInteger account = tooMany ? refused : stats.connections;
    if (tooMany) {
      stats.connections.decrementAndGet();
      stats.refused.increment();
      if (refused.incrementAndGet() > MOST_REFUSED) {
        refused.decrementAndGet();
        channel.close();
        return;
      }
    }
    channel.closeFuture().addListener(f -> account.decrementAndGet());
    if (tls != null) {
      SslHandler handler = tls.newHandler(channel.alloc());
      handler.setHandshakeTimeoutMillis(loop.config().timeouts().upgrade().toMillis());
      channel.pipeline().addLast(handler);
    }
    UpgradeHandler upgrade = new UpgradeHandler(loop, handshake);
    channel
        .pipeline()
        .addLast(
            new HttpRequestDecoder(
                new HttpDecoderConfig()
                    .setMaxInitialLineLength(MAX_REQUEST_LINE)
                    .setMaxHeaderSize(MAX_REQUEST_HEADERS)))
        .addLast(upgrade);
    if (tooMany) {
      upgrade.refuseBusy(channel.pipeline().lastContext());
    }
  }
}
