package io.eventbus.server.transport;

import io.eventbus.server.admission.Admission;
import io.eventbus.server.admission.ForwardedClient;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.config.ValueType;
import io.eventbus.server.transport.websocket.RequestHead;
import io.eventbus.server.transport.websocket.UpgradeHandshake;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connection before its upgrade: answers one HTTP request and makes way for a {@link
 * WebSocketConnection}, or refuses and closes. The deadline counts from the acceptance of the TCP
 * connection, so that a request that trickles in byte by byte does not keep it. Confined to its
 * loop.
 */
// A failed write or close ends the channel, which is handled; single futures are not.
@SuppressWarnings("FutureReturnValueIgnored")
final class UpgradeHandler extends ChannelInboundHandlerAdapter implements ConnectionLoop.Ticking {
  /** Header of refusals, by which clients know that the bus refused them. */
  private static final String REFUSED = "EventBus-Refused";

  private static final Logger LOG = LoggerFactory.getLogger(UpgradeHandler.class);

  /** Time for a client refused for want of room to read the answer. */
  private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * Time without progress after which a request may be evicted: longer than sending a request
   * takes.
   */
  private static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final ConnectionLoop loop;
  private final UpgradeHandshake handshake;
  private final ConnectionAdmission admission;
  private @Nullable ChannelHandlerContext own;
  private TickOrder.@Nullable Place place;
  private final long acceptedAt = System.nanoTime();
  private UpgradeHandshake.@Nullable Upgrade pending;
  private boolean answered;

  /** Set if a proxy has passed the request on, or a PROXY preface has no address. */
  private boolean forwarded;

  /** Set if the request comes from a browser. */
  private boolean page;

  /** Set if a page may read why there is no room: the answer may contain the client's address. */
  private boolean mayTellPage;

  private long deadlineNanos;

  /** Request as far as it has come. */
  private @Nullable RequestHead head;

  private @Nullable TlsReadThrottle tls;

  /** Address of the client by the PROXY protocol. */
  private @Nullable InetSocketAddress source;

  UpgradeHandler(ConnectionLoop loop, UpgradeHandshake handshake, ConnectionAdmission admission) {
    this.admission = admission;
    this.loop = loop;
    this.handshake = handshake;
    this.deadlineNanos = loop.config().timeouts().upgrade().toNanos();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    own = ctx;
    tls = ctx.pipeline().get(TlsReadThrottle.class);
    place = loop.add(this);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    TickOrder.Place added = place;
    if (added != null) {
      loop.remove(added);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof HttpRequest request && !answered) {
      answered = true;
      onRequest(ctx, request);
    }
    UpgradeHandshake.Upgrade upgrade = pending;
    if (message instanceof LastHttpContent last && upgrade != null) {
      pending = null;
      if (last.decoderResult().isSuccess()) {
        upgrade(ctx, upgrade);
      } else {
        refuse(ctx, UpgradeHandshake.unreadable(last.decoderResult()));
      }
    }
    // A body, or what follows a refused request, is of no interest.
    ReferenceCountUtil.release(message);
  }

  private void onRequest(ChannelHandlerContext ctx, HttpRequest request) {
    UpgradeHandshake.Answer answer = handshake.answer(request, adminPort());
    boolean foreign =
        answer instanceof UpgradeHandshake.Page page && page.status() == UpgradeHandshake.FOREIGN;
    RequestHead first = head;
    if (request.decoderResult().isFailure() && first != null && first.hasProxyPreface()) {
      admission.tellUnknownProxy(ctx.channel(), request.decoderResult().cause());
    }
    mayTellPage = !foreign;
    forwarded |= ConnectionAdmission.isForwarded(request.headers());
    page = UpgradeHandshake.isOfBrowser(request);
    if (!ConnectionAdmission.isAdmitted(ctx.channel())) {
      Optional<Admission.Refused> refusal;
      try {
        SocketAddress proxy = source != null ? source : ctx.channel().remoteAddress();
        refusal = admission.admit(ctx.channel(), admission.clientOf(proxy, request.headers()));
      } catch (ForwardedClient.UnusableException e) {
        admission.tellUnusable(ctx.channel(), String.valueOf(e.getMessage()));
        refuse(
            ctx,
            new UpgradeHandshake.Page(
                400, String.valueOf(e.getMessage()), UpgradeHandshake.FOR_PAGES));
        return;
      }
      if (refusal.isPresent()) {
        refuseLate(refusal.get());
        return;
      }
    }
    if (foreign) {
      handshake
          .origins()
          .tellRefused(
              String.valueOf(UpgradeHandshake.origin(request)),
              ConnectionAdmission.account(ctx.channel()));
    }
    if (answer instanceof UpgradeHandshake.Upgrade upgrade) {
      pending = upgrade;
    } else if (answer instanceof UpgradeHandshake.Page page) {
      refuse(ctx, page);
    }
  }

  private int adminPort() {
    AdminConfig admin = loop.config().admin();
    return admin.enabled() ? admin.port() : -1;
  }

  /** Takes the client's address from a proxy, if it names any, before the request. */
  void proxied(Optional<InetSocketAddress> told) {
    if (told.isEmpty()) {
      // The client may be anywhere: the proxy's address says nothing about it.
      forwarded = true;
      return;
    }
    InetSocketAddress client = told.get();
    source = client;
    ChannelHandlerContext ctx = own;
    if (ctx != null && !admission.isProxy(client)) {
      admission.admit(ctx.channel(), client).ifPresent(this::refuseLate);
    }
  }

  private void upgrade(ChannelHandlerContext ctx, UpgradeHandshake.Upgrade upgrade) {
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
          case BUS -> connection -> new BusHandler(loop, connection, acceptedAt, forwarded, page);
          case ECHO -> connection -> new EchoHandler(loop, connection);
        };
    WebSocketConnection connection = new WebSocketConnection(loop, ctx.channel(), deflate, handler);
    ctx.pipeline().addLast(connection);
    // Removing the decoder passes on the bytes that came with the request, which are the first
    // frames: to the connection, so this handler has to go before.
    ctx.pipeline().remove(this);
    ctx.pipeline().remove(HttpRequestDecoder.class);
  }

  private void refuse(ChannelHandlerContext ctx, UpgradeHandshake.Page page) {
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
    if (page.status() >= 400) {
      // Answers of a proxy in front of the bus lack this header, so that clients tell them apart.
      head.append(REFUSED).append(": yes\r\n");
    }
    page.headers()
        .forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    write(ctx, head.append("\r\n").toString());
    ctx.writeAndFlush(ctx.alloc().directBuffer(body.length).writeBytes(body))
        .addListener(written -> end(ctx.channel()));
  }

  /**
   * Ends the stream but continues reading until the client ends or the deadline comes: closing with
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

  /** Refuses a connection that was accepted before its client was known. */
  private void refuseLate(Admission.Refused refusal) {
    ChannelHandlerContext ctx = own;
    if (ctx == null || admission.acquireAnswer(ctx.channel())) {
      refuseBusy(refusal);
    } else {
      answered = true;
      ctx.close();
    }
  }

  /** Refuses a connection because there are too many. */
  void refuseBusy(Admission.Refused refusal) {
    answered = true;
    long age = System.nanoTime() - acceptedAt;
    deadlineNanos = Math.min(deadlineNanos, age + REFUSED_NANOS);
    ChannelHandlerContext ctx = own;
    if (ctx != null) {
      Map<String, String> headers = mayTellPage ? UpgradeHandshake.FOR_PAGES : Map.of();
      refuse(
          ctx,
          new UpgradeHandshake.Page(503, refusal.message() + ". Try again later.", headers)
              .with("Retry-After", "1"));
    }
  }

  /** Sets the source of the request. */
  void waitsFor(RequestHead requestHead) {
    head = requestHead;
  }

  /** Refuses a request that comes in pieces, for which there is no memory. */
  void refuseNoRoom() {
    answered = true;
    ChannelHandlerContext ctx = own;
    if (ctx != null) {
      refuse(
          ctx,
          new UpgradeHandshake.Page(
                  503,
                  "the bus has no room for unfinished requests. Try again, with the request in one"
                      + " piece.",
                  UpgradeHandshake.FOR_PAGES)
              .with("Retry-After", "1"));
    }
  }

  @Override
  public boolean onTick(long nowNanos) {
    ChannelHandlerContext ctx = own;
    if (ctx != null && nowNanos - acceptedAt > deadlineNanos) {
      if (!answered || pending != null) {
        LOG.debug(
            "{}: no upgrade within {}",
            ctx.channel().remoteAddress(),
            ValueType.time(loop.config().timeouts().upgrade()));
        loop.context().bus().stats().badRequests.increment();
      }
      ctx.close();
    }
    return false;
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
    return (head == null ? 0L : head.heldBytes()) + (tls == null ? 0 : tls.handshakeBytes());
  }

  /** Returns a score by age, as for unfinished messages; a request that comes at once has none. */
  @Override
  public double evictionScore(MemoryPressure.Kind kind, long nowNanos) {
    long age = nowNanos - acceptedAt;
    return kind == MemoryPressure.Kind.SHORT_PIECES && heldBytes() > 0 && age > TIMEOUT_NANOS
        ? age
        : 0;
  }

  @Override
  public void evict() {
    shutdown();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    loop.onError(cause);
    if (cause instanceof DecoderException && !answered) {
      // This names input that is neither TLS nor a proxy's preface.
      answered = true;
      loop.context().bus().stats().badRequests.increment();
    }
    LOG.debug(
        "{}: closing before the upgrade: {}", ctx.channel().remoteAddress(), cause.toString());
    ctx.close();
  }
}
