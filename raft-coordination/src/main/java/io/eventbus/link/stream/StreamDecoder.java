package io.eventbus.link.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.TooLongFrameException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Cuts the bytes of a stream into frames, in place, and can stop at any of them. Confined to its
 * loop.
 */
public abstract class StreamDecoder extends ByteToMessageDecoder {
  private static final int MORE = Integer.MIN_VALUE;

  private final int maxFrameBytes;
  private boolean paused;
  private boolean failed;
  // Index after the number that was read last.
  private int end;

  protected StreamDecoder(int maxFrameBytes) {
    this.maxFrameBytes = maxFrameBytes;
  }

  /** Handles a frame. Returns false if it has to come again after {@link #resume}. */
  protected abstract boolean onFrame(ByteBuffer in, int typeCode, int from, int to);

  /** Called when all received frames were handled, or the connection is paused. */
  protected abstract void onReadEnd();

  public final boolean isPaused() {
    return paused;
  }

  @Override
  protected final void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    int readable = in.readableBytes();
    if (paused || readable == 0) {
      return;
    }
    if (failed) {
      in.skipBytes(readable);
      return;
    }
    // If a frame throws, those before it must not come again at the end of the connection, and
    // those after it must not come without it.
    failed = true;
    int taken = 0;
    try {
      taken = frames(ctx, in.nioBuffer(in.readerIndex(), readable), readable);
      failed = false;
    } finally {
      in.skipBytes(failed ? readable : taken);
    }
  }

  /** Handles whole frames; returns the start of the first one that was not handled. */
  private int frames(ChannelHandlerContext ctx, ByteBuffer view, int readable) {
    int at = 0;
    while (at < readable) {
      int typeCode = number(view, at, readable);
      int length = typeCode == MORE ? MORE : number(view, end, readable);
      if (length == MORE) {
        break;
      }
      if (length < 0 || length > maxFrameBytes) {
        throw new TooLongFrameException(
            "length of a frame: " + length + " (expected: 0 to " + maxFrameBytes + ")");
      }
      if (length > readable - end) {
        break;
      }
      int from = end;
      if (!onFrame(view, typeCode, from, from + length)) {
        paused = true;
        ctx.channel().config().setAutoRead(false);
        break;
      }
      at = from + length;
    }
    return at;
  }

  /** Reads a number of at most five bytes; MORE if its end has not come. */
  private int number(ByteBuffer in, int from, int to) {
    int raw = 0;
    for (int i = from; i < to; i++) {
      int shift = 7 * (i - from);
      if (shift > 28) {
        throw new CorruptedFrameException("a number of more than 32 bits");
      }
      byte b = in.get(i);
      raw |= (b & 0x7F) << shift;
      if (b >= 0) {
        end = i + 1;
        return (raw >>> 1) ^ -(raw & 1);
      }
    }
    return MORE;
  }

  /** Resumes after a pause; on the loop. */
  final void resume(ChannelHandlerContext ctx) throws Exception {
    if (paused && !ctx.isRemoved()) {
      paused = false;
      // Handles the kept bytes.
      channelRead(ctx, Unpooled.EMPTY_BUFFER);
      if (!paused) {
        ctx.channel().config().setAutoRead(true);
      }
      onReadEnd();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
    if (paused) {
      // Otherwise Netty's decoder would read on, because nothing is passed on and more seems to
      // be needed.
      ctx.fireChannelReadComplete();
    } else {
      super.channelReadComplete(ctx);
    }
    onReadEnd();
  }
}
