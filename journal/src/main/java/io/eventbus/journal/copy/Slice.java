package io.eventbus.journal.copy;

import io.eventbus.link.LinkServiceException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Rows of a copy that are sent together: CRC32C of all that follows (4 bytes), copy (8), number of
 * the slice (4), rows of the copy with those of this slice (8), whether it is the last (1); then
 * for each row the size of its key (2) and of its value (4), key, value.
 *
 * <p>Confined to one thread.
 */
final class Slice {
  /** Size up to which rows are put into one; a larger row is alone in its slice. */
  static final int MAX_BYTES = 1 << 20;

  private static final int LAST_AT = 24;
  private static final int HEAD_BYTES = 25;
  private static final int ROW_BYTES = Short.BYTES + Integer.BYTES;
  private static final int MAX_KEY_BYTES = (1 << 16) - 1;

  private ByteBuffer bytes = ByteBuffer.allocate(64 << 10).position(HEAD_BYTES);

  /** Adds a row; returns false, and does nothing, if the slice has rows and no room for it. */
  boolean add(byte[] key, byte[] value) {
    if (key.length > MAX_KEY_BYTES) {
      throw new IllegalArgumentException(
          "key: " + key.length + " bytes (expected: at most " + MAX_KEY_BYTES + ")");
    }
    int size = ROW_BYTES + key.length + value.length;
    if (bytes.position() > HEAD_BYTES && bytes.position() + size > MAX_BYTES) {
      return false;
    }
    if (bytes.remaining() < size) {
      int wanted = Math.max(bytes.position() + size, Math.min(2 * bytes.capacity(), MAX_BYTES));
      bytes = ByteBuffer.wrap(Arrays.copyOf(bytes.array(), wanted)).position(bytes.position());
    }
    bytes.putShort((short) key.length).putInt(value.length).put(key).put(value);
    return true;
  }

  /**
   * Returns the slice.
   *
   * @param rows rows of the copy up to the end of this slice
   */
  byte[] encode(long copy, int number, long rows, boolean last) {
    ByteBuffer head = bytes.duplicate();
    head.position(Integer.BYTES);
    head.putLong(copy).putInt(number).putLong(rows).put((byte) (last ? 1 : 0));
    byte[] all = Arrays.copyOf(bytes.array(), bytes.position());
    ByteBuffer.wrap(all).putInt(crc(all));
    return all;
  }

  private static int crc(byte[] all) {
    CRC32C crc = new CRC32C();
    crc.update(all, Integer.BYTES, all.length - Integer.BYTES);
    return (int) crc.getValue();
  }

  /** Reader of a slice. */
  static final class Reader {
    private final ByteBuffer in;
    private final long rows;
    private final boolean last;
    private byte[] key = new byte[0];
    private byte[] value = new byte[0];

    /**
     * Checks the head of a slice.
     *
     * @throws LinkServiceException if it is not whole, or another one
     */
    Reader(byte[] all, long copy, int number) {
      in = ByteBuffer.wrap(all);
      if (all.length < HEAD_BYTES) {
        throw malformed("slice: " + all.length + " bytes (expected: at least " + HEAD_BYTES + ")");
      }
      int stated = in.getInt();
      if (stated != crc(all)) {
        throw malformed(
            String.format("slice: CRC32C %08x (expected: %08x, as it states)", crc(all), stated));
      }
      long foundCopy = in.getLong();
      int foundNumber = in.getInt();
      if (foundCopy != copy || foundNumber != number) {
        throw malformed(
            "slice: "
                + (foundNumber + " of copy " + foundCopy)
                + (" (expected: " + number + " of copy " + copy + ")"));
      }
      rows = in.getLong();
      last = in.get(LAST_AT) != 0;
      in.position(HEAD_BYTES);
    }

    /** Goes on to the next row, if there is one. */
    boolean next() {
      if (!in.hasRemaining()) {
        return false;
      }
      if (in.remaining() < ROW_BYTES) {
        throw cut();
      }
      int keySize = Short.toUnsignedInt(in.getShort());
      int size = in.getInt();
      if (size < 0 || in.remaining() - keySize < size) {
        throw cut();
      }
      key = new byte[keySize];
      value = new byte[size];
      in.get(key).get(value);
      return true;
    }

    byte[] key() {
      return key;
    }

    byte[] value() {
      return value;
    }

    private static LinkServiceException cut() {
      return malformed("slice: a row is cut short (expected: whole rows)");
    }

    /** Returns the number of rows of the copy up to the end of this slice. */
    long rows() {
      return rows;
    }

    boolean isLast() {
      return last;
    }
  }

  private static LinkServiceException malformed(String problem) {
    return new LinkServiceException(LinkServiceException.MALFORMED, problem);
  }
}
