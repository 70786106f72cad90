package io.eventbus.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.timeout.IdleState;
import io.netty.handler.timeout.IdleStateEvent;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open link: calls in both directions, and heartbeats.
 *
 * <p>The event loop of the channel owns everything but {@link #call}, which any thread may use.
 */
// Write failures close the channel; futures are ignored on purpose.
@SuppressWarnings("FutureReturnValueIgnored")
final class Link {
  private static final Logger log = LoggerFactory.getLogger(Link.class);

  private final Channel channel;
  private final LinkPeer peer;
  private final LinkOptions options;
  private final Map<Integer, LinkService> services;
  private final PendingRequests pending;

  /** Number of calls of the other side whose answers have not left; the event loop only. */
  private int serving;

  private long servingBytes;

  Link(Channel channel, LinkPeer peer, LinkOptions options, Map<Integer, LinkService> services) {
    this.channel = channel;
    this.peer = peer;
    this.options = options;
    this.services = services;
    this.pending = new PendingRequests(options.maxPendingCalls(), options.maxPendingBytes());
  }

  LinkPeer peer() {
    return peer;
  }

  boolean isOpen() {
    return channel.isActive();
  }

  void close() {
    channel.close();
  }

  ChannelHandler handler() {
    return new Inbound();
  }

  /**
   * Calls a service of the other side. Never throws: any failure, refused memory too, is in the
   * future.
   */
  CompletableFuture<byte[]> call(int service, byte[] request, Duration deadline) {
    PendingRequests.Call call = pending.begin(request.length);
    if (call == null) {
      return CompletableFuture.failedFuture(
          new LinkException(
              "calls under way to bus " + peer.bus() + ": " + pending.describe(), null, false));
    }
    if (request.length > options.maxFrameBytes() - 64) {
      pending.release(call);
      pending.fail(
          call,
          new LinkException(
              "request: "
                  + request.length
                  + " bytes (expected: at most "
                  + (options.maxFrameBytes() - 64)
                  + ")",
              null,
              false));
      return call.answer();
    }
    try {
      // Before the write: an exception there must not leave a call without a deadline.
      pending.watch(call, channel.eventLoop(), deadline, peer.bus());
      write(call, LinkCodec.request(channel.alloc(), call.id(), service, request));
    } catch (RuntimeException | Error e) {
      // Callers count their open calls: an error that went past the future would leave the count
      // up.
      pending.release(call);
      pending.fail(call, new LinkException("to bus " + peer.bus(), e));
    }
    return call.answer();
  }

  private void write(PendingRequests.Call call, ByteBuf frame) {
    channel
        .writeAndFlush(frame)
        .addListener(
            written -> {
              pending.release(call);
              if (!written.isSuccess()) {
                pending.fail(call, new LinkException("to bus " + peer.bus(), written.cause()));
              }
            });
  }

  private void serve(ByteBuf in) {
    long id = LinkCodec.readLong(in);
    int service = LinkCodec.readInt(in);
    byte[] request = ByteBufUtil.getBytes(in);
    serving++;
    servingBytes += request.length;
    limitReading();
    LinkService known = services.get(service);
    CompletionStage<byte[]> answer;
    try {
      answer =
          known == null
              ? CompletableFuture.failedStage(
                  new LinkServiceException(
                      LinkServiceException.UNKNOWN_SERVICE, "service: " + service))
              : known.answer(peer, request);
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedStage(e);
    }
    answer.whenComplete(
        (bytes, error) -> {
          if (channel.eventLoop().inEventLoop()) {
            reply(id, request.length, bytes, error);
          } else {
            channel.eventLoop().execute(() -> reply(id, request.length, bytes, error));
          }
        });
  }

  private void reply(
      long id, int requestBytes, byte @Nullable [] answer, @Nullable Throwable error) {
    serving--;
    servingBytes -= requestBytes;
    try {
      send(response(id, answer, error));
    } catch (RuntimeException | Error e) {
      // The channel would silently never be read again: while it owes answers it is not read.
      channel.close();
      throw e;
    }
  }

  private ByteBuf response(long id, byte @Nullable [] answer, @Nullable Throwable error) {
    if (answer != null && answer.length <= options.maxFrameBytes() - 64) {
      return LinkCodec.response(channel.alloc(), id, answer);
    }
    ByteBuf body = Unpooled.buffer(64);
    LinkCodec.writeLong(body, id);
    LinkServiceException failure = toServiceException(error);
    LinkCodec.writeString(body, failure.code());
    LinkCodec.writeString(body, String.valueOf(failure.getMessage()));
    return LinkCodec.frame(LinkFrame.FAILURE, body);
  }

  /**
   * Sends a frame. Every answer counts as under way until it has left, so that a side that does not
   * read is not read.
   */
  private void send(ByteBuf frame) {
    int size = frame.readableBytes();
    serving++;
    servingBytes += size;
    channel
        .writeAndFlush(frame)
        .addListener(
            left -> {
              serving--;
              servingBytes -= size;
              limitReading();
            });
    limitReading();
  }

  private LinkServiceException toServiceException(@Nullable Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    if (cause instanceof LinkServiceException named) {
      return named;
    }
    String message = cause == null ? "the answer is too big" : cause.toString();
    log.debug("A call of bus {} failed", peer.bus(), cause);
    return new LinkServiceException(LinkServiceException.INTERNAL, message);
  }

  /** Stops reading a side that asks for more than is answered. */
  private void limitReading() {
    boolean room = serving < options.maxPendingCalls() && servingBytes < options.maxPendingBytes();
    if (channel.config().isAutoRead() != room) {
      channel.config().setAutoRead(room);
    }
  }

  private final class Inbound extends SimpleChannelInboundHandler<LinkFrame> {
    private @Nullable ChannelFuture ping;

    /** State at the last check: the next frame to leave, and how much of it had left. */
    private @Nullable Object first;

    private long firstBytes;

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, LinkFrame frame) {
      ByteBuf in = frame.content();
      switch (frame.typeCode) {
        case LinkFrame.PING -> send(LinkCodec.frame(LinkFrame.PONG, Unpooled.EMPTY_BUFFER));
        case LinkFrame.PONG -> {}
        case LinkFrame.REQUEST -> serve(in);
        case LinkFrame.RESPONSE ->
            pending.succeed(LinkCodec.readLong(in), ByteBufUtil.getBytes(in));
        case LinkFrame.FAILURE ->
            pending.fail(
                LinkCodec.readLong(in),
                new LinkServiceException(LinkCodec.readString(in), LinkCodec.readString(in)));
        default -> {
          if (frame.typeCode <= LinkFrame.FAILURE) {
            throw new CorruptedFrameException("typeCode: " + frame.typeCode + " (out of order)");
          }
          // A frame of a later version: every frame can be skipped without knowing it.
        }
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof IdleStateEvent idle) {
        if (idle.state() == IdleState.WRITER_IDLE) {
          ping(ctx);
        } else if (channel.config().isAutoRead()) {
          log.info("The link to bus {} is closed: silent for {}", peer.bus(), options.silence());
          ctx.close();
        }
      }
    }

    /**
     * Pings the other side, because nothing has left for a heartbeat: there is nothing, or nothing
     * is accepted.
     */
    private void ping(ChannelHandlerContext ctx) {
      if (ping == null || ping.isDone()) {
        ping = ctx.writeAndFlush(LinkCodec.frame(LinkFrame.PING, Unpooled.EMPTY_BUFFER));
        first = null;
        return;
      }
      ChannelOutboundBuffer out = channel.unsafe().outboundBuffer();
      Object now = out == null ? null : out.current();
      long bytes = out == null ? 0 : out.currentProgress();
      if (now != null && now == first && bytes == firstBytes) {
        log.info("The link to bus {} is closed: it takes nothing", peer.bus());
        ctx.close();
      }
      first = now;
      firstBytes = bytes;
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      pending.failAll(new LinkException("the link to bus " + peer.bus() + " ended", null, true));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      log.debug("The link to bus {} failed", peer.bus(), cause);
      ctx.close();
    }
  }
}
