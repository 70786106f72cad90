package io.eventbus.link;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.TooLongFrameException;
import java.util.List;

/** Decoder of frames from the stream. Before the handshake is over, frames must be small. */
final class FrameDecoder extends ByteToMessageDecoder {
  /** Size that no frame of the handshake reaches. */
  static final int MAX_HANDSHAKE_FRAME = 1_024;

  /** Maximum size of a type code and a length: each at most 5 bytes. */
  private static final int MAX_HEAD = 10;

  private int maxFrameBytes = MAX_HANDSHAKE_FRAME;

  void allow(int bytes) {
    maxFrameBytes = bytes;
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    int start = in.readerIndex();
    if (!hasHead(in)) {
      if (in.readableBytes() >= MAX_HEAD) {
        throw new CorruptedFrameException("a frame's head of more than " + MAX_HEAD + " bytes");
      }
      return;
    }
    int typeCode = LinkCodec.readInt(in);
    int length = LinkCodec.readInt(in);
    if (length < 0 || length > maxFrameBytes) {
      throw new TooLongFrameException(
          "length of a frame: " + length + " (expected: 0 to " + maxFrameBytes + ")");
    }
    if (in.readableBytes() < length) {
      in.readerIndex(start);
      return;
    }
    out.add(new LinkFrame(typeCode, in.readRetainedSlice(length)));
  }

  /** Returns whether two numbers are complete: each ends with a byte that has no high bit. */
  private static boolean hasHead(ByteBuf in) {
    int ends = 0;
    int last = Math.min(in.readableBytes(), MAX_HEAD);
    for (int i = 0; i < last; i++) {
      if (in.getByte(in.readerIndex() + i) >= 0 && ++ends == 2) {
        return true;
      }
    }
    return false;
  }
}
