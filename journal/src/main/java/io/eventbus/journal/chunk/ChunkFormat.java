package io.eventbus.journal.chunk;

/**
 * Layout of a chunk. Integers of the head are big-endian, those of parts are Avro's.
 *
 * <pre>
 *   head  format (1 byte), CRC32C of all that follows (4), journal (4), first position (8),
 *         positions that it covers (4), stamp (8)
 *   part  topic, flags (1 byte), expiry (0 for none), positions left out before it, events,
 *         bytes of the frame, the frame
 * </pre>
 *
 * <p>The frame of a part is a {@code Deliver}: {@code producer} is the journal, {@code sequence}
 * the number of its first event in the topic, {@code offset} the position of that event, and no
 * {@code groups}. Behind these, {@code originProducer} and {@code originSequence} name its
 * publisher; clients that do not know them skip them.
 */
final class ChunkFormat {
  static final byte FORMAT = 1;
  static final int CHECKSUM_AT = 1;
  static final int CHECKED_FROM = 5;
  static final int JOURNAL_AT = 5;
  static final int POSITION_AT = 9;
  static final int COUNT_AT = 17;
  static final int STAMP_AT = 21;
  static final int HEAD_BYTES = 29;

  private ChunkFormat() {}
}
