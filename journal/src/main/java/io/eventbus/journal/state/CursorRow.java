package io.eventbus.journal.state;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.codec.CursorRecordFormat;
import io.eventbus.journal.codec.DefinitionFormat;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;

/**
 * Row of a cursor. Immutable.
 *
 * @param filter selects the topics whose events it gets
 * @param mode how consumers get them
 * @param number epoch at its creation, which no other cursor of this journal has; its other rows
 *     are found by it
 * @param floor every event up to this position is settled; of a shared cursor perhaps later ones,
 *     too
 * @param epoch number of its consumer; no other consumer of a cursor of this journal had it. Of a
 *     shared cursor that of the last one that joined
 * @param owner text that names the process whose consumer it is; empty for none, and of a shared
 *     cursor
 * @param stamp when it was last used, in milliseconds of the shard's time
 * @param shared figures of a shared cursor; those of an exclusive one are 0
 */
public record CursorRow(
    TopicFilter filter,
    CursorMode mode,
    long number,
    long floor,
    long epoch,
    String owner,
    long stamp,
    SharedCounts shared)
    implements Row {
  private static final int FORMAT = 1;
  private static final int MEMORY_BYTES = 300;

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static CursorRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    TopicFilter filter = DefinitionFormat.readFilter(in, "filter");
    CursorMode mode = CursorRecordFormat.readMode(in, "mode");
    CursorRow row =
        new CursorRow(
            filter,
            mode,
            RowFormat.readNumber(in, "number", 1, Long.MAX_VALUE),
            RowFormat.readNumber(in, "floor", 0, Long.MAX_VALUE),
            RowFormat.readNumber(in, "epoch", 1, Long.MAX_VALUE),
            in.readString("owner", CursorView.MAX_OWNER_BYTES),
            RowFormat.readNumber(in, "stamp", 0, Long.MAX_VALUE),
            mode == CursorMode.EXCLUSIVE ? SharedCounts.NONE : SharedCounts.read(in));
    RowFormat.checkEnd(in, value);
    return row;
  }

  @Override
  public byte[] encode() {
    String text = filter.toString();
    ByteBuffer out =
        ByteBuffer.allocate(
            6 * Varint.MAX_BYTES
                + DefinitionFormat.maxSize(text)
                + DefinitionFormat.maxSize(owner)
                + SharedCounts.MAX_BYTES);
    Varint.write(out, FORMAT);
    DefinitionFormat.writeString(out, text);
    CursorRecordFormat.writeMode(out, mode);
    Varint.write(out, number);
    Varint.write(out, floor);
    Varint.write(out, epoch);
    DefinitionFormat.writeString(out, owner);
    Varint.write(out, stamp);
    if (isShared()) {
      shared.write(out);
    }
    return RowFormat.bytes(out);
  }

  /** Returns whether it has several consumers. */
  boolean isShared() {
    return mode != CursorMode.EXCLUSIVE;
  }

  /** Returns the row with another consumer, or none. */
  CursorRow withConsumer(long nextEpoch, String nextOwner, long now) {
    return new CursorRow(filter, mode, number, floor, nextEpoch, nextOwner, now, shared);
  }

  /** Returns the row of an exclusive cursor whose events are settled up to a position. */
  CursorRow withFloor(long nextFloor, long now) {
    return new CursorRow(filter, mode, number, nextFloor, epoch, owner, now, shared);
  }

  /** Returns the row of a shared cursor with other figures. */
  CursorRow withShared(SharedCounts next, long now) {
    // How far a key-shared one has come is in the rows of its consumers.
    long nextFloor = mode == CursorMode.SHARED && next.isSettled() ? next.head() : floor;
    return new CursorRow(filter, mode, number, nextFloor, epoch, owner, now, next);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_BYTES + 4 * filter.toString().length() + 2 * owner.length();
  }
}
