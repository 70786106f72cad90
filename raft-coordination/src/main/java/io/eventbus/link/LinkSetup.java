package io.eventbus.link;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.timeout.IdleStateHandler;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Handlers that both sides put on a connection: first those of a handshake, and after it a link.
 */
record LinkSetup(LinkOptions options, Map<Integer, LinkService> services, LinkCounters counters) {

  private static final String DEADLINE = "handshake-deadline";

  /** Adds the handlers before the handshake to a new connection. */
  void begin(SocketChannel channel, @Nullable SslContext tls) {
    channel.pipeline().addLast(DEADLINE, new HandshakeDeadline(options.handshakeDeadline()));
    if (tls != null) {
      channel.pipeline().addLast(tls.newHandler(channel.alloc()));
    }
    channel.pipeline().addLast(new FrameDecoder());
  }

  /** Removes everything that the handshake needed; the next handler adds its own. */
  void clear(ChannelHandlerContext ctx, ChannelHandler handshake) {
    counters.opened.increment();
    ctx.pipeline().remove(DEADLINE);
    ctx.pipeline().remove(FrameDecoder.class);
    ctx.pipeline().remove(handshake);
  }

  /** Hands the connection over to another event loop, and to the handler of a stream. */
  // A failure shows in the channel being closed.
  @SuppressWarnings("FutureReturnValueIgnored")
  void handOver(
      ChannelHandlerContext ctx, ChannelHandler handshake, LinkPeer peer, StreamAcceptor acceptor) {
    EventLoop loop = acceptor.loop(peer);
    if (loop.isShuttingDown()) {
      // This bus ends: the other one comes back, or connects to another bus.
      ctx.close();
      return;
    }
    Channel channel = ctx.channel();
    // Nothing may be read between the one handler and the other.
    channel.config().setAutoRead(false);
    clear(ctx, handshake);
    move(channel, loop, () -> channel.pipeline().addLast(acceptor.handler(peer)));
  }

  /**
   * Moves a connection that does not read by itself any more to another event loop, where it does.
   *
   * @param then runs there before the first byte is read
   */
  // A failure of the move shows in the channel being closed.
  @SuppressWarnings("FutureReturnValueIgnored")
  static void move(Channel channel, EventLoop loop, Runnable then) {
    channel
        .deregister()
        .addListener(
            left -> {
              if (!left.isSuccess() || !channel.isActive()) {
                channel.close();
                return;
              }
              loop.register(channel)
                  .addListener(
                      taken -> {
                        if (taken.isSuccess()) {
                          begin(channel, then);
                        } else {
                          channel.close();
                        }
                      });
            });
  }

  @SuppressWarnings("FutureReturnValueIgnored")
  private static void begin(Channel channel, Runnable then) {
    try {
      then.run();
      channel.config().setAutoRead(true);
    } catch (RuntimeException e) {
      channel.close();
    }
  }

  /**
   * Hands the connection over to another event loop, and puts a link in the place of the handshake.
   */
  void openOn(
      EventLoop loop,
      ChannelHandlerContext ctx,
      ChannelHandler handshake,
      LinkPeer peer,
      Consumer<Link> opened) {
    Channel channel = ctx.channel();
    // Nothing may be read between the one handler and the other.
    channel.config().setAutoRead(false);
    Link link = prepare(ctx, peer);
    // Here: a channel that is closed between two loops does not tell its handlers.
    ctx.pipeline().remove(handshake);
    move(
        channel,
        loop,
        () -> {
          attach(link, ctx.pipeline());
          opened.accept(link);
        });
  }

  /** Puts the link in the place of the handshake. */
  Link open(ChannelHandlerContext ctx, ChannelHandler handshake, LinkPeer peer) {
    Link link = prepare(ctx, peer);
    attach(link, ctx.pipeline());
    ctx.pipeline().remove(handshake);
    return link;
  }

  private Link prepare(ChannelHandlerContext ctx, LinkPeer peer) {
    counters.opened.increment();
    ctx.pipeline().get(FrameDecoder.class).allow(options.maxFrameBytes());
    ctx.pipeline().remove(DEADLINE);
    return new Link(ctx.channel(), peer, options, services);
  }

  private void attach(Link link, ChannelPipeline pipeline) {
    pipeline.addLast(
        new IdleStateHandler(
            options.silence().toMillis(),
            options.heartbeat().toMillis(),
            0,
            TimeUnit.MILLISECONDS));
    pipeline.addLast(link.handler());
  }
}
