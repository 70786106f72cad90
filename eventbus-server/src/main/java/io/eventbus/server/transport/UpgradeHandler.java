package io.eventbus.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection until it is upgraded: answers one HTTP request and makes way for a {@link
 * WebSocketConnection}, or says what was wrong and closes. The deadline counts from the acceptance
 * of the TCP connection, so that a request that trickles in byte by byte does not keep it. Confined
 * to its loop.
 */
// A write or close that fails ends the channel, and that is what is acted on: not each future.
@SuppressWarnings("FutureReturnValueIgnored")
final class UpgradeHandler extends ChannelInboundHandlerAdapter implements LoopState.Ticking {
  private static final Logger LOG = LoggerFactory.getLogger(UpgradeHandler.class);

  /** How long a client that is refused for want of room may take to read the answer. */
  private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LoopState loop;
  private final Handshake handshake;
  private @Nullable ChannelHandlerContext own;
  private final long acceptedAt = System.nanoTime();
  private Handshake.@Nullable Upgrade pending;
  private boolean answered;
  private long deadlineNanos;

  UpgradeHandler(LoopState loop, Handshake handshake) {
    this.loop = loop;
    this.handshake = handshake;
    this.deadlineNanos = loop.config().timeouts().upgrade().toNanos();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    own = ctx;
    loop.add(this);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    loop.remove(this);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof HttpRequest request && !answered) {
      answered = true;
      Handshake.Answer answer = handshake.answer(request);
      if (answer instanceof Handshake.Upgrade upgrade) {
        pending = upgrade;
      } else if (answer instanceof Handshake.Page page) {
        refuse(ctx, page);
      }
    }
    Handshake.Upgrade upgrade = pending;
    if (message instanceof LastHttpContent last && upgrade != null) {
      pending = null;
      if (last.decoderResult().isSuccess()) {
        upgrade(ctx, upgrade);
      } else {
        refuse(ctx, Handshake.unreadable(last.decoderResult()));
      }
    }
    // A body, or what follows a refused request, is of no interest.
    ReferenceCountUtil.release(message);
  }

  private void upgrade(ChannelHandlerContext ctx, Handshake.Upgrade upgrade) {
    StringBuilder head =
        new StringBuilder(192)
            .append(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")
            .append("Sec-WebSocket-Accept: ")
            .append(upgrade.accept())
            .append("\r\n");
    if (upgrade.subprotocol() != null) {
      head.append("Sec-WebSocket-Protocol: ").append(upgrade.subprotocol()).append("\r\n");
    }
    if (upgrade.extensions() != null) {
      head.append("Sec-WebSocket-Extensions: ").append(upgrade.extensions()).append("\r\n");
    }
    write(ctx, head.append("\r\n").toString());
    ctx.flush();
    boolean deflate = upgrade.extensions() != null;
    Function<WebSocketConnection, MessageHandler> handler =
        switch (upgrade.endpoint()) {
          case BUS -> connection -> new BusHandler(loop, connection, acceptedAt);
          case ECHO -> connection -> new EchoHandler(loop, connection);
        };
    WebSocketConnection connection = new WebSocketConnection(loop, ctx.channel(), deflate, handler);
    ctx.pipeline().addLast(connection);
    loop.add(connection);
    // Removing the decoder passes on the bytes that came with the request, which are the first
    // frames: to the connection, so this handler has to go before.
    ctx.pipeline().remove(this);
    ctx.pipeline().remove(HttpRequestDecoder.class);
  }

  private void refuse(ChannelHandlerContext ctx, Handshake.Page page) {
    if (page.status() >= 400) {
      loop.context().bus().stats().badRequests.increment();
    }
    byte[] body = (page.body() + "\n").getBytes(StandardCharsets.UTF_8);
    StringBuilder head =
        new StringBuilder(256)
            .append("HTTP/1.1 ")
            .append(HttpResponseStatus.valueOf(page.status()))
            .append(
                "\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n")
            .append("Connection: close\r\nContent-Length: ")
            .append(body.length)
            .append("\r\n");
    page.headers()
        .forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    write(ctx, head.append("\r\n").toString());
    ctx.writeAndFlush(ctx.alloc().directBuffer(body.length).writeBytes(body))
        .addListener(written -> end(ctx.channel()));
  }

  /**
   * Ends the stream but goes on reading until the client ends or the deadline comes: closing with
   * unread data would reset the connection, and the client might never see the answer.
   */
  private static void end(Channel channel) {
    if (channel instanceof DuplexChannel duplex
        && channel.pipeline().get(SslHandler.class) == null) {
      duplex.shutdownOutput();
    } else {
      channel.close();
    }
  }

  private static void write(ChannelHandlerContext ctx, String text) {
    ByteBuf bytes = ctx.alloc().directBuffer(text.length());
    bytes.writeCharSequence(text, StandardCharsets.US_ASCII);
    ctx.write(bytes, ctx.voidPromise());
  }

  /** Refuses a connection because there are too many. */
  void refuseBusy(ChannelHandlerContext ctx) {
    answered = true;
    deadlineNanos = Math.min(deadlineNanos, REFUSED_NANOS);
    refuse(
        ctx,
        new Handshake.Page(
            503,
            "The bus has as many connections as it may. Try again later.",
            Map.of("Retry-After", "1")));
  }

  @Override
  public void onTick(long nowNanos) {
    ChannelHandlerContext ctx = own;
    if (ctx != null && nowNanos - acceptedAt > deadlineNanos) {
      if (!answered || pending != null) {
        LOG.debug(
            "{}: no upgrade within {}",
            ctx.channel().remoteAddress(),
            loop.config().timeouts().upgrade());
        loop.context().bus().stats().badRequests.increment();
      }
      ctx.close();
    }
  }

  @Override
  public void stopReading() {
    shutdown();
  }

  @Override
  public void shutdown() {
    ChannelHandlerContext ctx = own;
    if (ctx != null) {
      ctx.close();
    }
  }

  @Override
  public long heldBytes() {
    return 0;
  }

  @Override
  public void evict() {
    shutdown();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    loop.onError(cause);
    LOG.debug(
        "{}: closing before the upgrade: {}", ctx.channel().remoteAddress(), cause.toString());
    ctx.close();
  }
}
