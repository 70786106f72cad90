package io.eventbus.server.federation.lane;

import io.eventbus.link.LinkPeer;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.LaneHello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connection of a lane at the bus that has opened it. Confined to its loop. */
// A failed write closes the channel, which is handled: single futures are not.
@SuppressWarnings("FutureReturnValueIgnored")
public final class LaneSender extends LaneDecoder implements StreamEndpoint {
  private static final Logger LOG = LoggerFactory.getLogger(LaneSender.class);

  /** Maximum bytes of an answer. */
  private static final int MAX_ANSWER = 64 * 1024;

  /** Bytes that are copied together into one buffer. */
  private static final int BATCH_BYTES = 64 * 1024;

  /** Bytes from which frames are written by reference. */
  private static final int LARGE_BYTES = 8 * 1024;

  private final LaneLoop loop;
  private final Lane lane;
  private final LinkPeer linkPeer;
  private final Keepalive keepalive;
  private @Nullable Channel channel;

  LaneSender(LaneLoop loop, Lane lane, LinkPeer linkPeer) {
    super(MAX_ANSWER);
    this.loop = loop;
    this.lane = lane;
    this.linkPeer = linkPeer;
    this.keepalive = new Keepalive(loop.config(), loop.nanoTime());
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    channel = ctx.channel();
    keepalive.received(loop.nanoTime());
    ctx.channel()
        .config()
        .setWriteBufferWaterMark(new WriteBufferWaterMark(256 * 1024, 1024 * 1024));
    if (lane.onOpen(this, linkPeer)) {
      write(
          PeerFrames.encode(
              PeerFrames.LANE_HELLO,
              new LaneHello(lane.number(), loop.count(), loop.registryNumber(), lane.next())));
      flush();
    }
  }

  boolean isWritable() {
    Channel c = channel;
    return c != null && c.isWritable();
  }

  public void write(byte[] frame) {
    Channel c = channel;
    if (c != null) {
      c.write(Unpooled.wrappedBuffer(frame), c.voidPromise());
    }
  }

  public void flush() {
    Channel c = channel;
    if (c != null) {
      keepalive.sent(loop.nanoTime());
      c.flush();
    }
  }

  /** Writes one frame or more, of those before {@code end}; returns how many. */
  public int write(LaneRing ring, int from, int end, LaneCounters counters) {
    Channel c = channel;
    if (c == null) {
      throw new IllegalStateException("the lane is not open");
    }
    int bytes = 0;
    int to = from;
    for (; to < end; to++) {
      Delivery delivery = ring.delivery(to);
      LanePath path = ring.path(to);
      int size = path.headBytes(delivery) + delivery.frameBytes() + path.tail().length;
      if (delivery.frameBytes() > LARGE_BYTES || (bytes > 0 && bytes + size > BATCH_BYTES)) {
        break;
      }
      bytes += size;
    }
    if (to == from) {
      writeLarge(c, ring.path(from), ring.delivery(from), counters);
      return 1;
    }
    ByteBuf out = c.alloc().directBuffer(bytes, bytes);
    try {
      for (int i = from; i < to; i++) {
        Delivery delivery = ring.delivery(i);
        writeHead(out, ring.path(i), delivery);
        delivery.copyFrame(out);
        out.writeBytes(ring.path(i).tail());
        counters.eventsOut.add(delivery.events());
      }
    } catch (RuntimeException | Error e) {
      out.release();
      throw e;
    }
    counters.framesOut.add((long) to - from);
    counters.bytesOut.add(bytes);
    c.write(out, c.voidPromise());
    return to - from;
  }

  private void writeHead(ByteBuf out, LanePath path, Delivery delivery) {
    ByteBuffer scratch = loop.scratch(path.maxHeadBytes());
    path.writeHead(scratch, delivery);
    out.writeBytes(scratch.flip());
  }

  private void writeLarge(Channel c, LanePath path, Delivery delivery, LaneCounters counters) {
    int size = path.headBytes(delivery);
    ByteBuf head = c.alloc().directBuffer(size, size);
    writeHead(head, path, delivery);
    c.write(head, c.voidPromise());
    c.write(delivery.slice(0), c.voidPromise());
    byte[] tail = path.tail();
    if (tail.length > 0) {
      c.write(Unpooled.wrappedBuffer(tail), c.voidPromise());
    }
    counters.eventsOut.add(delivery.events());
    counters.framesOut.add(1);
    counters.bytesOut.add((long) size + delivery.frameBytes() + tail.length);
  }

  @Override
  protected boolean onFrame(ByteBuffer in, int typeCode, int from, int to) {
    return LaneFrameHandlers.OF_SENDER.handle(typeCode, this, in, from, to);
  }

  Lane lane() {
    return lane;
  }

  void onGoodbye() {
    lane.peer().onGoodbye(linkPeer.instance());
    close();
  }

  @Override
  protected void onReadEnd() {
    keepalive.received(loop.nanoTime());
  }

  @Override
  public Keepalive keepalive() {
    return keepalive;
  }

  void onTick(long now) {
    if (keepalive.isSilent(now)) {
      LOG.info("Lane {} to bus {} is silent", lane.number(), linkPeer.bus());
      close();
    }
  }

  @Override
  public void sendKeepalive() {
    write(PeerFrames.encode(PeerFrames.ALIVE));
    flush();
  }

  /** Says goodbye because this bus ends, and reads until the peer has closed the connection. */
  @Nullable ChannelFuture end() {
    write(PeerFrames.encode(PeerFrames.GOODBYE));
    flush();
    Channel c = channel;
    return c == null ? null : c.closeFuture();
  }

  @Override
  public void close() {
    Channel c = channel;
    if (c != null) {
      c.close();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (ctx.channel().isWritable()) {
      lane.drainSoon();
    }
    ctx.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    try {
      super.channelInactive(ctx);
    } finally {
      lane.onClosed(this);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    boolean expected = cause instanceof java.io.IOException;
    if (expected) {
      LOG.debug("Lane {} to bus {} failed", lane.number(), linkPeer.bus(), cause);
    } else if (cause instanceof CorruptedFrameException
        || cause.getCause() instanceof MalformedFrameException) {
      LOG.warn("Bus {} sent a malformed frame: {}", linkPeer.bus(), cause.toString());
    } else {
      LOG.error("Lane {} to bus {} failed", lane.number(), linkPeer.bus(), cause);
    }
    ctx.close();
  }
}
