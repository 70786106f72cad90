package io.eventbus.journal.state;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;

/** Common part of the values of rows: a number of the format at the beginning, nothing behind. */
final class RowFormat {
  private RowFormat() {}

  /** Returns a reader behind the number of the format, which has to be the expected one. */
  static BodyReader reader(byte[] value, int format) {
    BodyReader in = new BodyReader().wrap(ByteBuffer.wrap(value), 0, value.length);
    int unused = read(in, format, format);
    return in;
  }

  /** Reads the number of the format, which has to be from {@code min} to {@code max}. */
  static int read(BodyReader in, int min, int max) {
    int found = in.readCount("format");
    if (found < min || found > max) {
      throw in.malformed("format", 0, found, min == max ? "" + max : min + ".." + max);
    }
    return found;
  }

  /** Reads a number of a range. */
  static long readNumber(BodyReader in, String field, long min, long max) {
    int at = in.position();
    long value = in.readLong(field);
    if (value < min || value > max) {
      throw in.malformed(field, at, value, min + ".." + max);
    }
    return value;
  }

  static void checkEnd(BodyReader in, byte[] value) {
    if (!in.atEnd()) {
      throw in.malformed(
          "row", in.position(), (value.length - in.position()) + " bytes more", "the end");
    }
  }

  /** Returns the value of a row of numbers. */
  static byte[] ofNumbers(int format, long... numbers) {
    ByteBuffer out = ByteBuffer.allocate((numbers.length + 1) * Varint.MAX_BYTES);
    Varint.write(out, format);
    for (long number : numbers) {
      Varint.write(out, number);
    }
    return bytes(out);
  }

  /** Returns what was written. */
  static byte[] bytes(ByteBuffer out) {
    byte[] bytes = new byte[out.flip().remaining()];
    out.get(bytes);
    return bytes;
  }
}
