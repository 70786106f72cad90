package io.eventbus.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.charset.StandardCharsets;

/**
 * Avro's binary encoding of the few types that links need. Input has been bounded by the frame that
 * it stands in.
 */
public final class LinkCodec {
  private LinkCodec() {}

  /**
   * Writes an integer of Avro.
   *
   * @param out takes it
   * @param value the integer
   */
  public static void writeLong(ByteBuf out, long value) {
    long zigzag = (value << 1) ^ (value >> 63);
    while ((zigzag & ~0x7FL) != 0) {
      out.writeByte((int) (zigzag | 0x80));
      zigzag >>>= 7;
    }
    out.writeByte((int) zigzag);
  }

  static long readLong(ByteBuf in) {
    long zigzag = 0;
    for (int shift = 0; shift < 64 && in.isReadable(); shift += 7) {
      byte b = in.readByte();
      zigzag |= (b & 0x7FL) << shift;
      if (b >= 0) {
        return (zigzag >>> 1) ^ -(zigzag & 1);
      }
    }
    throw new CorruptedFrameException("a number that does not end");
  }

  static int readInt(ByteBuf in) {
    long value = readLong(in);
    if (value != (int) value) {
      throw new CorruptedFrameException("int: " + value + " (expected: 32 bits)");
    }
    return (int) value;
  }

  static void writeString(ByteBuf out, String value) {
    writeBytes(out, value.getBytes(StandardCharsets.UTF_8));
  }

  static String readString(ByteBuf in) {
    return new String(readBytes(in), StandardCharsets.UTF_8);
  }

  static void writeBytes(ByteBuf out, byte[] value) {
    writeLong(out, value.length);
    out.writeBytes(value);
  }

  static byte[] readBytes(ByteBuf in) {
    long length = readLong(in);
    if (length < 0 || length > in.readableBytes()) {
      throw new CorruptedFrameException(
          "length: " + length + " (left: " + in.readableBytes() + ")");
    }
    return ByteBufUtil.getBytes(in.readSlice((int) length));
  }

  /** Encodes the whole frame of a call, in one buffer. */
  static ByteBuf request(ByteBufAllocator allocator, long id, int service, byte[] bytes) {
    int body = sizeOf(id) + sizeOf(service) + bytes.length;
    ByteBuf out = begin(allocator, LinkFrame.REQUEST, body);
    writeLong(out, id);
    writeLong(out, service);
    return out.writeBytes(bytes);
  }

  /** Encodes the whole frame of an answer, in one buffer. */
  static ByteBuf response(ByteBufAllocator allocator, long id, byte[] bytes) {
    ByteBuf out = begin(allocator, LinkFrame.RESPONSE, sizeOf(id) + bytes.length);
    writeLong(out, id);
    return out.writeBytes(bytes);
  }

  private static ByteBuf begin(ByteBufAllocator allocator, int typeCode, int body) {
    ByteBuf out = allocator.ioBuffer(sizeOf(typeCode) + sizeOf(body) + body);
    writeLong(out, typeCode);
    writeLong(out, body);
    return out;
  }

  /**
   * Measures an integer.
   *
   * @param value the integer
   * @return the number of bytes that {@link #writeLong} needs for it
   */
  public static int sizeOf(long value) {
    long zigzag = (value << 1) ^ (value >> 63);
    return Math.max(1, (70 - Long.numberOfLeadingZeros(zigzag)) / 7);
  }

  /** Encodes a whole frame: {@code record Frame { int typeCode; bytes body; }}. */
  static ByteBuf frame(int typeCode, ByteBuf body) {
    ByteBuf head = Unpooled.buffer(10);
    writeLong(head, typeCode);
    writeLong(head, body.readableBytes());
    return Unpooled.wrappedBuffer(head, body);
  }
}
