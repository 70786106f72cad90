package io.eventbus.journal.state;

import io.eventbus.journal.CursorView;
import io.eventbus.journal.codec.DefinitionFormat;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;

/**
 * Row of a cursor. Immutable.
 *
 * @param filter selects the topics whose events it gets
 * @param floor every event up to this position is settled
 * @param epoch number of its consumer; no other consumer of a cursor of this journal had it
 * @param owner text that names the process whose consumer it is; empty for none
 * @param stamp when it was last used, in milliseconds of the shard's time
 */
public record CursorRow(TopicFilter filter, long floor, long epoch, String owner, long stamp)
    implements Row {
  private static final int FORMAT = 1;
  private static final int MEMORY_BYTES = 200;

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static CursorRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    CursorRow row =
        new CursorRow(
            DefinitionFormat.readFilter(in, "filter"),
            in.readLong("floor"),
            in.readLong("epoch"),
            in.readString("owner", CursorView.MAX_OWNER_BYTES),
            in.readLong("stamp"));
    RowFormat.checkEnd(in, value);
    return row;
  }

  @Override
  public byte[] encode() {
    String text = filter.toString();
    ByteBuffer out =
        ByteBuffer.allocate(
            4 * Varint.MAX_BYTES
                + DefinitionFormat.maxSize(text)
                + DefinitionFormat.maxSize(owner));
    Varint.write(out, FORMAT);
    DefinitionFormat.writeString(out, text);
    Varint.write(out, floor);
    Varint.write(out, epoch);
    DefinitionFormat.writeString(out, owner);
    Varint.write(out, stamp);
    return RowFormat.bytes(out);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_BYTES + 4 * filter.toString().length() + 2 * owner.length();
  }
}
