package io.eventbus.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reader of Avro's binary encoding from a range of a buffer, which trusts nothing: every length is
 * checked against the remaining bytes and against a limit before anything is read or allocated.
 *
 * <p>Positions are absolute, the buffer's own position is not touched. One thread at a time;
 * reused, so that reading allocates nothing.
 */
public final class BodyReader {
  // Replaced by wrap() before any use; an empty buffer keeps the field non-null.
  private ByteBuffer buf = ByteBuffer.allocate(0);
  private int base;
  private int at;
  private int end;
  private int blockEnd = -1;

  /** Creates a reader of nothing. */
  public BodyReader() {}

  /**
   * Starts at the first byte of a body.
   *
   * @param buffer holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return this reader
   */
  public BodyReader wrap(ByteBuffer buffer, int from, int to) {
    return wrap(buffer, from, to, from);
  }

  /**
   * Starts at a byte that is not the first one.
   *
   * @param start the start of the body: errors state the distance from there
   */
  BodyReader wrap(ByteBuffer buffer, int from, int to, int start) {
    buf = buffer;
    base = start;
    at = from;
    end = to;
    blockEnd = -1;
    return this;
  }

  /**
   * Returns the index of the next byte.
   *
   * @return an index into the buffer
   */
  public int position() {
    return at;
  }

  /**
   * Goes on at another byte.
   *
   * @param position its index in the buffer
   */
  public void position(int position) {
    at = position;
  }

  /**
   * Returns whether all bytes have been read.
   *
   * @return true if none is left
   */
  public boolean atEnd() {
    return at >= end;
  }

  /**
   * Reads a zig-zag variable-length integer of at most 64 bits (Avro specification, "Binary
   * encoding").
   *
   * @param field name of the field, for the error
   * @return the integer
   * @throws MalformedFrameException if there is no such value
   */
  public long readLong(String field) {
    int i = at;
    if (i < end) {
      int first = buf.get(i);
      if (first >= 0) {
        at = i + 1;
        return (long) ((first >>> 1) ^ -(first & 1));
      }
    }
    return readLongSlowly(field);
  }

  /** Reads an integer of more than one byte: of up to eight by a single access to the buffer. */
  private long readLongSlowly(String field) {
    if (end - at >= Long.BYTES) {
      long word = buf.getLong(at);
      if (buf.order() == ByteOrder.BIG_ENDIAN) {
        word = Long.reverseBytes(word);
      }
      long lastBytes = ~word & 0x8080808080808080L;
      if (lastBytes != 0) {
        int bits = Long.numberOfTrailingZeros(lastBytes) + 1;
        at += bits / Byte.SIZE;
        long raw = joinGroups(word & (-1L >>> (Long.SIZE - bits)));
        return (raw >>> 1) ^ -(raw & 1);
      }
    }
    return readLongByBytes(field);
  }

  /** Joins the low seven bits of each of eight bytes, in pairs, then fours, then all. */
  private static long joinGroups(long word) {
    long groups = word & 0x7F7F7F7F7F7F7F7FL;
    groups = (groups & 0x007F007F007F007FL) | ((groups & 0x7F007F007F007F00L) >>> 1);
    groups = (groups & 0x00003FFF00003FFFL) | ((groups & 0x3FFF00003FFF0000L) >>> 2);
    return (groups & 0x000000000FFFFFFFL) | ((groups & 0x0FFFFFFF00000000L) >>> 4);
  }

  private long readLongByBytes(String field) {
    long raw = 0;
    int shift = 0;
    for (int i = at; i < end; i++) {
      int b = buf.get(i);
      if (shift == 63 && (b & 0xFE) != 0) {
        throw malformed(field, at, "an integer of more than 64 bits", "at most 10 bytes");
      }
      raw |= (b & 0x7FL) << shift;
      if (b >= 0) {
        at = i + 1;
        return (raw >>> 1) ^ -(raw & 1);
      }
      shift += 7;
    }
    throw malformed(field, at, "the end of the data inside an integer", "a whole one");
  }

  /**
   * Reads an integer of 32 bits, in at most five bytes. The Avro libraries accept no more, so a
   * padded one must not be passed on to subscribers.
   *
   * @param field name of the field, for the error
   * @return the integer
   * @throws MalformedFrameException if there is no such value
   */
  public int readInt(String field) {
    int start = at;
    long value = readLong(field);
    if (value != (int) value || at - start > Varint.MAX_INT_BYTES) {
      throw malformed(
          field,
          start,
          value + " in " + (at - start) + " bytes",
          "an integer of 32 bits in at most " + Varint.MAX_INT_BYTES + " bytes");
    }
    return (int) value;
  }

  /**
   * Reads a boolean.
   *
   * @param field name of the field, for the error
   * @return the boolean
   * @throws MalformedFrameException if there is no such value
   */
  public boolean readBoolean(String field) {
    if (at >= end) {
      throw malformed(field, at, "the end of the data", "a boolean");
    }
    byte b = buf.get(at);
    if (b != 0 && b != 1) {
      throw malformed(field, at, b, "0 or 1");
    }
    at++;
    return b == 1;
  }

  /**
   * Reads the index of a union of null and one more type.
   *
   * @param field name of the field, for the error
   * @return false for null
   * @throws MalformedFrameException if there is no such value
   */
  public boolean readPresent(String field) {
    int start = at;
    int index = readInt(field);
    if (index != 0 && index != 1) {
      throw malformed(field, start, "union index " + index, "0 or 1");
    }
    return index == 1;
  }

  /**
   * Reads a length, checked against the limit and against the remaining bytes; the reader is then
   * at the first byte after it.
   *
   * @param field name of the field, for the error
   * @param limit the maximum
   * @return bytes
   * @throws MalformedFrameException if there is no such value or it exceeds the limit
   */
  public int readLength(String field, int limit) {
    int start = at;
    long length = readLong(field);
    if (length < 0) {
      throw malformed(field, start, "length " + length, "0.." + limit);
    }
    if (length > limit) {
      throw tooBig(field + " length", start, length, limit);
    }
    if (length > end - at) {
      throw malformed(
          field, start, "length " + length, "at most the " + (end - at) + " bytes that are left");
    }
    return (int) length;
  }

  /** Skips a string after checking that it is UTF-8; returns its length in bytes. */
  int skipString(String field, int limit) {
    int length = readLength(field, limit);
    if (!Utf8.isValid(buf, at, at + length)) {
      throw malformed(field, at, "bytes that are not UTF-8", "a string");
    }
    at += length;
    return length;
  }

  /**
   * Reads a string.
   *
   * @param field name of the field, for the error
   * @param limit maximum number of bytes
   * @return the string
   * @throws MalformedFrameException if there is no such value or it exceeds the limit
   */
  public String readString(String field, int limit) {
    int length = skipString(field, limit);
    return Utf8.decode(buf, at - length, at);
  }

  /**
   * Reads bytes.
   *
   * @param field name of the field, for the error
   * @param limit maximum number of bytes
   * @return a new array
   * @throws MalformedFrameException if there is no such value or it exceeds the limit
   */
  public byte[] readBytes(String field, int limit) {
    byte[] bytes = new byte[readLength(field, limit)];
    buf.get(at, bytes);
    at += bytes.length;
    return bytes;
  }

  /**
   * Reads an integer of 32 bits that is not negative.
   *
   * @param field name of the field, for the error
   * @return 0 or more
   * @throws MalformedFrameException if there is no such value
   */
  public int readCount(String field) {
    int start = at;
    int count = readInt(field);
    if (count < 0) {
      throw malformed(field, start, count, "at least 0");
    }
    return count;
  }

  /**
   * Reads an integer of 64 bits that is not negative: a position in a stream of bytes or a journal.
   */
  long readOffset(String field) {
    int start = at;
    long offset = readLong(field);
    if (offset < 0) {
      throw malformed(field, start, offset, "at least 0");
    }
    return offset;
  }

  /**
   * Reads the head of an array or map block; {@link #blockEnd} is then the end that it states.
   *
   * @param field name of the field, for the error
   * @param minItemBytes minimum size of an item
   * @return the number of items, which the remaining bytes can hold; 0 for the end of the array or
   *     map
   * @throws MalformedFrameException if there is no such value
   */
  public long readBlockCount(String field, int minItemBytes) {
    int start = at;
    long count = readLong(field);
    blockEnd = -1;
    if (count < 0) {
      if (count == Long.MIN_VALUE) {
        throw malformed(field, start, "block count " + count, "at least " + -Long.MAX_VALUE);
      }
      count = -count;
      int sizeAt = at;
      long size = readLong(field);
      if (size < 0 || size > end - at) {
        throw malformed(
            field, sizeAt, "block size " + size, "0.." + (end - at) + ", the bytes that are left");
      }
      blockEnd = at + (int) size;
    }
    int room = (blockEnd >= 0 ? blockEnd : end) - at;
    if (count > room / minItemBytes) {
      throw malformed(
          field,
          start,
          "block count " + count,
          "at most the " + room / minItemBytes + " items that fit in " + room + " bytes");
    }
    return count;
  }

  /**
   * Returns the end that the block states that was begun last.
   *
   * @return the index after its last byte, -1 if it states none
   */
  public int blockEnd() {
    return blockEnd;
  }

  /**
   * Returns an error at a position, which is stated as the distance from the start of the body.
   *
   * @param field name of the field
   * @param position an index into the buffer
   * @param found what is there
   * @param expected what should be there
   * @return the error, to be thrown
   */
  public MalformedFrameException malformed(
      String field, int position, Object found, String expected) {
    return MalformedFrameException.malformed(field, position - base, found, expected);
  }

  /**
   * Returns the error for a limit that was exceeded at a position.
   *
   * @param field name of the field
   * @param position an index into the buffer
   * @param found the number there
   * @param limit the maximum
   * @return the error, to be thrown
   */
  public MalformedFrameException tooBig(String field, int position, long found, long limit) {
    return MalformedFrameException.tooBig(field, position - base, found, limit);
  }

  /**
   * Checks the end of a block that stated its size, after its last item.
   *
   * @param field name of the field, for the error
   * @param expectedEnd from {@link #blockEnd}
   * @throws MalformedFrameException if the last item ends elsewhere
   */
  public void checkBlockEnd(String field, int expectedEnd) {
    if (expectedEnd >= 0 && at != expectedEnd) {
      throw malformed(
          field,
          at,
          "a block whose items end here",
          "the end at byte " + (expectedEnd - base) + " that its size gives");
    }
  }
}
