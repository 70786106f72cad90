package io.eventbus.journal.copy;

import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.link.BinaryFields;
import java.nio.ByteBuffer;

/**
 * Begin of a copy.
 *
 * @param number number by which its slices are asked for
 * @param applied the last entry whose rows are in the copy
 * @param bytes about how many bytes it has
 * @param configuration the members at that entry, in the form in which Raft stores them
 */
record CopyHead(long number, AppliedEntry applied, long bytes, ByteBuffer configuration) {
  private static final int MAX_CONFIGURATION_BYTES = 1 << 20;

  byte[] encode() {
    return BinaryFields.encode(
        out -> {
          out.writeLong(number);
          out.writeLong(applied.term());
          out.writeLong(applied.index());
          out.writeLong(applied.stamp());
          out.writeLong(bytes);
          byte[] members = new byte[configuration.remaining()];
          configuration.get(configuration.position(), members);
          out.writeInt(members.length);
          out.write(members);
        });
  }

  /**
   * Decodes a begin.
   *
   * @throws io.eventbus.link.LinkServiceException if it is none
   */
  static CopyHead decode(byte[] answer) {
    return BinaryFields.decode(
        answer,
        in -> {
          long number = in.readLong();
          AppliedEntry applied = new AppliedEntry(in.readLong(), in.readLong(), in.readLong());
          long bytes = in.readLong();
          byte[] configuration =
              new byte[BinaryFields.count(in, "configuration", MAX_CONFIGURATION_BYTES)];
          in.readFully(configuration);
          return new CopyHead(number, applied, bytes, ByteBuffer.wrap(configuration));
        });
  }
}
