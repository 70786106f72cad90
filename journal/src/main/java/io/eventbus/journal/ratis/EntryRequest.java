package io.eventbus.journal.ratis;

import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.ResultFormat;
import io.eventbus.link.LinkServiceException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * Entry on its way from another bus to that of the leader: group (16 bytes), round (8 bytes),
 * number (8 bytes), entry. The answer is the index of the entry in the log (8 bytes), then the
 * results of its records.
 *
 * @param round number of an attempt of a sender to send all that is not answered, each greater than
 *     the one before
 * @param number number of the entry in its round, from 0
 * @param entry the bytes of the entry, from position to limit
 */
record EntryRequest(UUID group, long round, long number, ByteBuffer entry) {
  private static final int HEAD_BYTES = 4 * Long.BYTES;

  byte[] encode() {
    ByteBuffer out = ByteBuffer.allocate(HEAD_BYTES + entry.remaining());
    out.putLong(group.getMostSignificantBits()).putLong(group.getLeastSignificantBits());
    out.putLong(round).putLong(number).put(entry.duplicate());
    return out.array();
  }

  /**
   * Reads a request, whose entry is not copied.
   *
   * @throws LinkServiceException if there is none
   */
  static EntryRequest decode(byte[] bytes) {
    if (bytes.length < HEAD_BYTES) {
      throw new LinkServiceException(
          LinkServiceException.MALFORMED,
          "request: " + bytes.length + " bytes (expected: at least " + HEAD_BYTES + ")");
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    UUID group = new UUID(in.getLong(), in.getLong());
    return new EntryRequest(group, in.getLong(), in.getLong(), in);
  }

  static byte[] encodeAnswer(RecordResultsMessage answer) {
    ByteBuffer out = ByteBuffer.allocate(Long.BYTES + ResultFormat.maxSize(answer.results()));
    out.putLong(answer.index());
    ResultFormat.write(out, answer.results());
    byte[] bytes = new byte[out.position()];
    out.flip().get(bytes);
    return bytes;
  }

  static RecordResultsMessage decodeAnswer(byte[] bytes) throws EntryFormatException {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    if (in.remaining() < Long.BYTES) {
      // Read as results, it says what is wrong.
      return new RecordResultsMessage(0, ResultFormat.read(in));
    }
    long index = in.getLong();
    return new RecordResultsMessage(index, ResultFormat.read(in));
  }
}
