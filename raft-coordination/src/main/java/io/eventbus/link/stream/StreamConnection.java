package io.eventbus.link.stream;

import io.eventbus.link.LinkPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.WriteBufferWaterMark;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connection of a stream at this bus. Confined to its loop except for {@link #retry}. */
// A failed write closes the channel, which is handled: single futures are not.
@SuppressWarnings("FutureReturnValueIgnored")
public final class StreamConnection extends StreamDecoder {
  private static final Logger LOG = LoggerFactory.getLogger(StreamConnection.class);

  /**
   * User of a connection, at the bus that has opened it or at the one that has accepted it. Called
   * on the loop; {@link #toString} names it in the log.
   */
  public interface End {
    /** Called when the connection is open, before the first read. */
    default void onOpen(StreamConnection opened) {}

    /**
     * Handles a frame. An exception closes the connection; the frame then counts as not received.
     *
     * @param begin index of the first byte of its body
     * @param end index after the last byte of its body
     * @return false if it has to come again after {@link #retry}; then nothing was done
     */
    boolean onFrame(StreamConnection from, int typeCode, ByteBuffer in, int begin, int end);

    /** Called when all received frames were handled, or one has to come again. */
    default void onReadEnd(StreamConnection from) {}

    /** Called when there is room to write more. */
    default void onWritable() {}

    /** Called at least every second, and every 50 ms while {@link #isDueSoon}. */
    default void onTick(StreamConnection connection, long nowNanos) {}

    /** Returns whether a deadline may come within the next second. */
    default boolean isDueSoon() {
      return false;
    }

    /** Called when the other bus ends in order; the connection closes after it. */
    default void onGoodbye(StreamConnection from) {}

    /** Called when the connection has ended. */
    default void onClosed(StreamConnection closed) {}
  }

  private final StreamLoop loop;
  private final LinkPeer linkPeer;
  private End end;
  private final Keepalive keepalive;
  private @Nullable ChannelHandlerContext context;
  private boolean ending;

  /**
   * Creates the handler of a connection.
   *
   * @param maxFrameBytes maximum bytes of a frame of the other bus
   */
  public StreamConnection(StreamLoop loop, LinkPeer linkPeer, int maxFrameBytes, End end) {
    super(maxFrameBytes);
    this.loop = loop;
    this.linkPeer = linkPeer;
    this.end = end;
    this.keepalive = loop.keepalive();
  }

  /** Gives the connection to another user, after the frame that is handled now. */
  public void end(End now) {
    end = now;
  }

  public LinkPeer linkPeer() {
    return linkPeer;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
    keepalive.received(loop.nanoTime());
    ctx.channel()
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
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      throw new IllegalStateException("the stream is not open");
    }
    return ctx.channel();
  }

  ByteBufAllocator alloc() {
    return channel().alloc();
  }

  public void write(byte[] frame) {
    write(Unpooled.wrappedBuffer(frame));
  }

  void write(ByteBuf bytes) {
    channel().write(bytes, channel().voidPromise());
  }

  public void flush() {
    keepalive.sent(loop.nanoTime());
    channel().flush();
  }

  boolean isWritable() {
    return channel().isWritable();
  }

  public boolean isOpen() {
    return channel().isActive();
  }

  @Override
  protected boolean onFrame(ByteBuffer in, int typeCode, int from, int to) {
    if (typeCode == StreamFrames.GOODBYE) {
      end.onGoodbye(this);
      close();
    } else if (typeCode != StreamFrames.ALIVE && !ending) {
      return end.onFrame(this, typeCode, in, from, to);
    }
    return true;
  }

  @Override
  protected void onReadEnd() {
    keepalive.received(loop.nanoTime());
    if (!ending) {
      end.onReadEnd(this);
    }
  }

  /** Handles the frame again for which nothing was read; any thread. */
  public void retry() {
    loop.execute(
        () -> {
          ChannelHandlerContext ctx = context;
          if (ctx == null) {
            return;
          }
          try {
            resume(ctx);
          } catch (Exception e) {
            fail(e);
          }
        });
  }

  Keepalive keepalive() {
    return keepalive;
  }

  void onTick(long now) {
    if (isPaused()) {
      // Nothing is read, so no keepalive can arrive.
      keepalive.received(now);
    }
    end.onTick(this, now);
    if (keepalive.isSilent(now)) {
      LOG.info("{} is silent", end);
      close();
    }
  }

  boolean isDueSoon() {
    return end.isDueSoon();
  }

  void sendKeepalive() {
    write(StreamFrames.encode(StreamFrames.ALIVE));
    flush();
  }

  /**
   * Says goodbye because this bus ends, and reads until the other one has closed the connection.
   */
  ChannelFuture end() {
    ending = true;
    write(StreamFrames.encode(StreamFrames.GOODBYE));
    flush();
    return channel().closeFuture();
  }

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
    loop.remove(this);
    try {
      if (!isPaused()) {
        // Frames before the end still count.
        super.channelInactive(ctx);
      }
    } finally {
      end.onClosed(this);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    fail(cause);
  }

  /** Closes the connection after an error; recovery is that of a lost one. */
  public void fail(Throwable error) {
    loop.failed(end, error);
    close();
  }
}
