package io.eventbus.journal.copy;

import io.eventbus.link.BinaryFields;
import java.io.IOException;
import java.util.UUID;

/**
 * Question of a replica to another one.
 *
 * @param kind what is asked for
 * @param group the group of the shard
 * @param member the replica that asks
 * @param number by kind: 1 if the log is to be kept, otherwise 0; the least entry that the copy has
 *     to have; the number of the copy; the position of the event
 * @param slice number of the slice, from 0; the journal of the event; of no meaning for other kinds
 */
public record CopyRequest(Kind kind, UUID group, String member, long number, int slice) {
  /** Kind of request. */
  public enum Kind {
    /** State of the replica, which may be asked to keep all of its log for a while. */
    STATE(1),
    /** Begin of a copy. */
    OPEN(2),
    /** Slice of a copy; that which was asked for last may be asked for again. */
    NEXT(3),
    /** End of a copy. */
    CLOSE(4),
    /** Chunk that has an event. */
    CHUNK(5),
    /** Latest event of its topic. */
    LATEST(6);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    private static Kind of(int code) throws IOException {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IOException("kind: " + code + " (expected: 1 to " + values().length + ")");
    }
  }

  /** Encodes the request. */
  public byte[] encode() {
    return BinaryFields.encode(
        out -> {
          out.writeByte(kind.code);
          out.writeLong(group.getMostSignificantBits());
          out.writeLong(group.getLeastSignificantBits());
          out.writeUTF(member);
          out.writeLong(number);
          out.writeInt(slice);
        });
  }

  /**
   * Decodes a request.
   *
   * @throws io.eventbus.link.LinkServiceException if it is none
   */
  public static CopyRequest decode(byte[] bytes) {
    return BinaryFields.decode(
        bytes,
        in -> {
          Kind kind = Kind.of(in.readByte());
          UUID group = new UUID(in.readLong(), in.readLong());
          return new CopyRequest(kind, group, in.readUTF(), in.readLong(), in.readInt());
        });
  }
}
