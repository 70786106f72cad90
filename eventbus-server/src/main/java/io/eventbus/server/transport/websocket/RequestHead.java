package io.eventbus.server.transport.websocket;

import io.eventbus.server.memory.UnfinishedMemory;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ProtocolDetectionState;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Collector of an HTTP request's head, removed when the head is whole. A decoder that gets it piece
 * by piece makes an object of each line, and thousands of requests that never end would hold twenty
 * times what was sent. Here bytes are kept, bounded for each request, counted among the unfinished
 * messages. Confined to the loop.
 */
public final class RequestHead extends ChannelInboundHandlerAdapter {
  private final int max;
  private final UnfinishedMemory memory;
  private final Runnable noRoom;
  private @Nullable ByteBuf head;
  private int taken;
  private int searched;
  private boolean refused;
  private boolean hasProxyPreface;

  /**
   * Creates the handler of one connection.
   *
   * @param max bytes after which the decoder gets the head whether it is whole or not, to say what
   *     is wrong with it, and nothing more
   */
  public RequestHead(int max, UnfinishedMemory memory, Runnable noRoom) {
    this.max = max;
    this.memory = memory;
    this.noRoom = noRoom;
  }

  /** Returns the bytes held. */
  public int heldBytes() {
    return taken;
  }

  /** Returns whether the bytes begin with a PROXY preface that was not handled. */
  public boolean hasProxyPreface() {
    return hasProxyPreface;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf in = (ByteBuf) message;
    if (refused) {
      in.release();
      return;
    }
    ByteBuf all = head == null ? in : append(ctx, head, in);
    if (all == null) {
      refuse();
      return;
    }
    if (isWhole(all)) {
      passOn(ctx, all);
      // The request may have ended the channel, and with it the pipeline.
      if (!ctx.isRemoved()) {
        ctx.pipeline().remove(this);
      }
      return;
    }
    if (all.readableBytes() >= max || !isHttp(all)) {
      // The decoder says what is wrong with it, and gets nothing more.
      refused = true;
      passOn(ctx, all);
      free();
      return;
    }
    if (head == null && !keep(ctx, in)) {
      refuse();
    }
  }

  private void passOn(ChannelHandlerContext ctx, ByteBuf all) {
    head = null;
    hasProxyPreface =
        HAProxyMessageDecoder.detectProtocol(all).state() == ProtocolDetectionState.DETECTED;
    ctx.fireChannelRead(all);
  }

  private boolean keep(ChannelHandlerContext ctx, ByteBuf in) {
    try {
      if (!tryAcquire(in.readableBytes())) {
        return false;
      }
      // Not the buffer itself: it may be much larger than what was read.
      head = ctx.alloc().directBuffer(in.readableBytes()).writeBytes(in);
      return true;
    } finally {
      in.release();
    }
  }

  /** Appends the second buffer, and takes it over; null if there is no room. */
  private @Nullable ByteBuf append(ChannelHandlerContext ctx, ByteBuf all, ByteBuf in) {
    try {
      int needed = all.readableBytes() + in.readableBytes();
      if (needed > all.capacity()) {
        int capacity = ctx.alloc().calculateNewCapacity(needed, Integer.MAX_VALUE);
        if (!tryAcquire(capacity - taken)) {
          return null;
        }
        all.capacity(capacity);
      }
      return all.writeBytes(in);
    } finally {
      in.release();
    }
  }

  private boolean tryAcquire(int bytes) {
    if (!memory.tryAcquire(bytes)) {
      return false;
    }
    taken += bytes;
    return true;
  }

  private void refuse() {
    refused = true;
    free();
    noRoom.run();
  }

  /**
   * Returns whether there is an empty line, which ends the head, with or without carriage returns.
   */
  private boolean isWhole(ByteBuf all) {
    int end = all.writerIndex();
    for (int i = Math.max(start(all), searched - 2); i < end; i++) {
      if (all.getByte(i) == '\n'
          && i + 1 < end
          && (all.getByte(i + 1) == '\n'
              || (all.getByte(i + 1) == '\r' && i + 2 < end && all.getByte(i + 2) == '\n'))) {
        return true;
      }
    }
    searched = end;
    return false;
  }

  /** Returns where the request begins: empty lines may be before it (RFC 9112, section 2.2). */
  private static int start(ByteBuf all) {
    int start = all.forEachByte(octet -> octet == '\r' || octet == '\n');
    return start < 0 ? all.writerIndex() : start;
  }

  /** Returns false if the first line has come and is no request line. */
  private static boolean isHttp(ByteBuf all) {
    int start = start(all);
    int line = all.bytesBefore(start, all.writerIndex() - start, (byte) '\n');
    return line < 0 || all.toString(start, line, StandardCharsets.ISO_8859_1).contains(" HTTP/");
  }

  private void free() {
    ByteBuf kept = head;
    head = null;
    if (kept != null) {
      kept.release();
    }
    memory.release(taken);
    taken = 0;
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    free();
  }
}
