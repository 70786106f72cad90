package io.eventbus.link.stream;

import io.eventbus.link.LinkCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Frames of streams themselves, whose bodies are integers. Stateless; any thread. */
public final class StreamFrames {
  /** Answer to the first frame: the number of the last frame that was received before. */
  public static final int WELCOME = 51;

  /** Acknowledgement of all frames up to a number. */
  public static final int ACK = 53;

  /** Keepalive, without a body. */
  public static final int ALIVE = 59;

  /** Ordered end of the bus that sends it, without a body. */
  public static final int GOODBYE = 60;

  /** Acknowledgement of the frames from a number to another, after some that are not. */
  public static final int ACK_RANGE = 61;

  private StreamFrames() {}

  /** Encodes a whole frame whose body is these integers. */
  public static byte[] encode(int typeCode, long... numbers) {
    int length = 0;
    for (long number : numbers) {
      length += LinkCodec.sizeOf(number);
    }
    byte[] frame = new byte[LinkCodec.sizeOf(typeCode) + LinkCodec.sizeOf(length) + length];
    ByteBuf out = Unpooled.wrappedBuffer(frame).clear();
    LinkCodec.writeLong(out, typeCode);
    LinkCodec.writeLong(out, length);
    for (long number : numbers) {
      LinkCodec.writeLong(out, number);
    }
    return frame;
  }
}
