package io.eventbus.server.federation.call;

import io.eventbus.link.LinkPeer;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.call.RetransmitQueue.Kept;
import io.eventbus.server.federation.lane.Keepalive;
import io.eventbus.server.federation.lane.LaneDecoder;
import io.eventbus.server.federation.lane.StreamEndpoint;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connection of a stream of calls at this bus. Confined to its loop. */
// A failed write closes the channel, which is handled: single futures are not.
@SuppressWarnings("FutureReturnValueIgnored")
final class CallConnection extends LaneDecoder implements StreamEndpoint {
  private static final Logger LOG = LoggerFactory.getLogger(CallConnection.class);

  /** Bytes that are copied together into one buffer. */
  private static final int BATCH_BYTES = 64 * 1024;

  /** Bytes from which bodies are written by reference. */
  private static final int LARGE_BYTES = 8 * 1024;

  /** Stream end that a connection belongs to. Confined to the loop. */
  interface End {
    /** Called when the connection is open, before the first read. */
    void onOpen(CallConnection opened);

    /**
     * Handles a frame. An exception closes the connection; the frame then counts as not received.
     *
     * @param begin index of the first byte of its body
     * @param end index after the last byte of its body
     */
    void onFrame(CallConnection from, ByteBuffer in, int typeCode, int begin, int end);

    /** Called when all received frames were handled. */
    void onReadEnd(CallConnection from);

    /** Called when there is room to write more. */
    void onWritable();

    /** Called when the peer ends in order. */
    void onGoodbye(CallConnection from);

    /** Called when the connection has ended. */
    void onClosed(CallConnection closed);
  }

  private final LoopStreams loop;
  private final LinkPeer linkPeer;
  private final End end;
  private final Keepalive keepalive;
  private @Nullable Channel channel;
  private boolean ending;

  CallConnection(LoopStreams loop, LinkPeer linkPeer, End end) {
    super(loop.lanes().maxFrameBytes());
    this.loop = loop;
    this.linkPeer = linkPeer;
    this.end = end;
    this.keepalive = new Keepalive(loop.lanes().config(), loop.now());
  }

  LinkPeer linkPeer() {
    return linkPeer;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    Channel opened = ctx.channel();
    channel = opened;
    keepalive.received(loop.now());
    opened
        .config()
        .setWriteBufferWaterMark(new WriteBufferWaterMark(256 * 1024, 1024 * 1024))
        .setRecvByteBufAllocator(
            new AdaptiveRecvByteBufAllocator(2 * 1024, 64 * 1024, 256 * 1024)
                .maxMessagesPerRead(2));
    if (loop.add(this)) {
      end.onOpen(this);
    } else {
      close();
    }
  }

  private Channel channel() {
    Channel opened = channel;
    if (opened == null) {
      throw new IllegalStateException("the stream is not open");
    }
    return opened;
  }

  void write(byte[] frame) {
    channel().write(Unpooled.wrappedBuffer(frame), channel().voidPromise());
  }

  void flush() {
    keepalive.sent(loop.now());
    channel().flush();
  }

  boolean isWritable() {
    return channel().isWritable();
  }

  /** Writes some of the unsent frames. */
  void write(RetransmitQueue kept) {
    int size = 0;
    long now = loop.now();
    ByteBuf large = null;
    ByteBuf out = channel().alloc().directBuffer(1024, Integer.MAX_VALUE);
    try {
      for (Kept frame = kept.peek(now);
          frame != null && size < BATCH_BYTES;
          frame = kept.peek(now)) {
        Delivery body = frame.body();
        begin(out, frame, body, now);
        kept.sent();
        size = out.readableBytes();
        if (body != null && body.frameBytes() > LARGE_BYTES) {
          large = body.slice(0);
          break;
        }
        if (body != null) {
          body.copyFrame(out);
        }
      }
    } catch (RuntimeException | Error e) {
      out.release();
      throw e;
    }
    channel().write(out, channel().voidPromise());
    if (large != null) {
      channel().write(large, channel().voidPromise());
    }
  }

  private static void begin(ByteBuf out, Kept frame, @Nullable Delivery body, long now) {
    if (!frame.isCall()) {
      out.writeBytes(frame.head());
      return;
    }
    // The remaining time may be less than when it was sent before.
    long left = (frame.deadlineNanos() - now) / 1_000_000;
    int timeout = (int) Math.max(1, Math.min(Integer.MAX_VALUE, left));
    int bytes = body == null ? 0 : body.frameBytes();
    int size = BusCallFrames.callStartSize(timeout, frame.head(), bytes);
    ByteBuffer scratch = ByteBuffer.allocate(size);
    BusCallFrames.writeCallStart(scratch, timeout, frame.head(), bytes);
    out.writeBytes(scratch.flip());
  }

  @Override
  protected boolean onFrame(ByteBuffer in, int typeCode, int from, int to) {
    if (typeCode == PeerFrames.GOODBYE) {
      end.onGoodbye(this);
      close();
    } else if (typeCode != PeerFrames.ALIVE && !ending) {
      end.onFrame(this, in, typeCode, from, to);
    }
    return true;
  }

  @Override
  protected void onReadEnd() {
    keepalive.received(loop.now());
    if (!ending) {
      end.onReadEnd(this);
    }
  }

  @Override
  public Keepalive keepalive() {
    return keepalive;
  }

  void onTick(long now) {
    if (keepalive.isSilent(now)) {
      LOG.info("The stream of calls {} with bus {} is silent", linkPeer.channel(), linkPeer.bus());
      close();
    }
  }

  @Override
  public void sendKeepalive() {
    write(PeerFrames.encode(PeerFrames.ALIVE));
    flush();
  }

  /** Says goodbye because this bus ends, and reads until the peer has closed the connection. */
  ChannelFuture end() {
    ending = true;
    write(PeerFrames.encode(PeerFrames.GOODBYE));
    flush();
    return channel().closeFuture();
  }

  @Override
  public void close() {
    channel().close();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (ctx.channel().isWritable()) {
      end.onWritable();
    }
    ctx.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    try {
      super.channelInactive(ctx);
    } finally {
      loop.remove(this);
      end.onClosed(this);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    fail(cause);
  }

  /** Closes the connection after an internal error; recovery is that of a lost one. */
  void fail(Throwable cause) {
    if (cause instanceof java.io.IOException) {
      LOG.debug("The stream of calls with bus {} failed", linkPeer.bus(), cause);
    } else if (cause instanceof MalformedFrameException
        || cause.getCause() instanceof MalformedFrameException
        || cause instanceof CorruptedFrameException) {
      LOG.warn("Bus {} sent a malformed frame of calls: {}", linkPeer.bus(), cause.toString());
    } else {
      LOG.error("The stream of calls with bus {} failed", linkPeer.bus(), cause);
    }
    close();
  }
}
