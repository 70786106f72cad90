package io.eventbus.server.transport;

import io.netty.buffer.ByteBuf;

/**
 * Boundaries of the records of a TLS connection (RFC 8446, section 5.1: type, version, two octets
 * of length, the rest). Bytes that are no TLS get boundaries as well; decryption detects them.
 * Confined to the connection's loop.
 */
final class TlsRecords {
  private static final int HEADER_BYTES = 5;

  /** Octets of the current record's header that have been seen. */
  private int header;

  /** Octets of the current record after its header that are to come. */
  private int left;

  private int length;

  /**
   * Advances over records in a buffer, whose position stays.
   *
   * @param count maximum of records, whole or the rest of a record
   * @return how many octets these are; at least one where there are any
   */
  int next(ByteBuf in, int count) {
    int at = in.readerIndex();
    int end = in.writerIndex();
    int records = 0;
    while (at < end && records < count) {
      if (left > 0) {
        int step = Math.min(left, end - at);
        at += step;
        left -= step;
        if (left == 0) {
          records++;
        }
        continue;
      }
      int octet = in.getUnsignedByte(at++);
      header++;
      if (header >= HEADER_BYTES - 1) {
        length = (length << 8) | octet;
      }
      if (header == HEADER_BYTES) {
        header = 0;
        left = length;
        length = 0;
        if (left == 0) {
          records++;
        }
      }
    }
    return at - in.readerIndex();
  }
}
