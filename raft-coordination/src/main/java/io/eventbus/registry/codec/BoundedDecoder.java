package io.eventbus.registry.codec;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.io.Decoder;
import org.apache.avro.util.Utf8;
import org.jspecify.annotations.Nullable;

/**
 * Decoder of Avro's binary encoding from a buffer of unknown content.
 *
 * <p>Avro's own decoder allocates what a length or a count promises. This one first checks that as
 * many bytes are left, so that it never takes more memory than a small multiple of the input. Not
 * safe for several threads.
 */
final class BoundedDecoder extends Decoder {
  private final ByteBuffer in;

  BoundedDecoder(ByteBuffer in) {
    this.in = in;
  }

  @Override
  public void readNull() {}

  @Override
  public boolean readBoolean() throws IOException {
    byte value = next();
    if (value != 0 && value != 1) {
      throw new AvroRuntimeException("boolean: " + value + " (expected: 0 or 1)");
    }
    return value == 1;
  }

  @Override
  public int readInt() throws IOException {
    long value = readLong();
    if (value != (int) value) {
      throw new AvroRuntimeException("int: " + value + " (expected: 32 bits)");
    }
    return (int) value;
  }

  @Override
  public long readLong() throws IOException {
    long zigzag = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte b = next();
      if (shift == 63 && b != 0 && b != 1) {
        break;
      }
      zigzag |= (b & 0x7FL) << shift;
      if (b >= 0) {
        return (zigzag >>> 1) ^ -(zigzag & 1);
      }
    }
    throw new AvroRuntimeException("long: more than 64 bits");
  }

  @Override
  public float readFloat() throws IOException {
    return Float.intBitsToFloat(Integer.reverseBytes(take(4).getInt()));
  }

  @Override
  public double readDouble() throws IOException {
    return Double.longBitsToDouble(Long.reverseBytes(take(8).getLong()));
  }

  @Override
  public Utf8 readString(@Nullable Utf8 old) throws IOException {
    return new Utf8(readString());
  }

  @Override
  public String readString() throws IOException {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(take(readLength())).toString();
    } catch (CharacterCodingException e) {
      throw new AvroRuntimeException("string: no UTF-8", e);
    }
  }

  @Override
  public void skipString() throws IOException {
    skipBytes();
  }

  @Override
  public ByteBuffer readBytes(@Nullable ByteBuffer old) throws IOException {
    ByteBuffer slice = take(readLength());
    return ByteBuffer.allocate(slice.remaining()).put(slice).flip();
  }

  @Override
  public void skipBytes() throws IOException {
    take(readLength());
  }

  @Override
  public void readFixed(byte[] bytes, int start, int length) throws IOException {
    take(length).get(bytes, start, length);
  }

  @Override
  public void skipFixed(int length) throws IOException {
    take(length);
  }

  @Override
  public int readEnum() throws IOException {
    return readInt();
  }

  @Override
  public long readArrayStart() throws IOException {
    return readCount();
  }

  @Override
  public long arrayNext() throws IOException {
    return readCount();
  }

  @Override
  public long skipArray() throws IOException {
    return skipBlocks();
  }

  @Override
  public long readMapStart() throws IOException {
    return readCount();
  }

  @Override
  public long mapNext() throws IOException {
    return readCount();
  }

  @Override
  public long skipMap() throws IOException {
    return skipBlocks();
  }

  @Override
  public int readIndex() throws IOException {
    return readInt();
  }

  /**
   * Reads the number of items of the next block; each has at least one byte in every schema of the
   * registry.
   */
  private long readCount() throws IOException {
    long count = readLong();
    if (count < 0) {
      if (count == Long.MIN_VALUE) {
        throw new AvroRuntimeException("count: " + count + " (expected: a number of items)");
      }
      count = -count;
      long size = readLong();
      if (size < 0 || size > in.remaining()) {
        throw new EOFException("block: " + size + " bytes (left: " + in.remaining() + ")");
      }
    }
    if (count > in.remaining()) {
      throw new EOFException("items: " + count + " (bytes left: " + in.remaining() + ")");
    }
    return count;
  }

  /** Skips blocks with a size, and returns the items of one without, or 0, as Avro has it. */
  private long skipBlocks() throws IOException {
    while (true) {
      long count = readLong();
      if (count >= 0) {
        if (count > in.remaining()) {
          throw new EOFException("items: " + count + " (bytes left: " + in.remaining() + ")");
        }
        return count;
      }
      take(readLength());
    }
  }

  private int readLength() throws IOException {
    long length = readLong();
    if (length < 0 || length > in.remaining()) {
      throw new EOFException("length: " + length + " (left: " + in.remaining() + ")");
    }
    return (int) length;
  }

  private byte next() throws IOException {
    if (!in.hasRemaining()) {
      throw new EOFException("the bytes end too early");
    }
    return in.get();
  }

  private ByteBuffer take(int length) throws IOException {
    if (length > in.remaining()) {
      throw new EOFException("length: " + length + " (left: " + in.remaining() + ")");
    }
    ByteBuffer slice = in.slice(in.position(), length);
    in.position(in.position() + length);
    return slice;
  }
}
