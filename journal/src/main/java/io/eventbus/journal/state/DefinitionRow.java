package io.eventbus.journal.state;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.codec.DefinitionFormat;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;

/**
 * Row of a journal's definition.
 *
 * @param creation number of the journal's creation; 0 for none
 */
public record DefinitionRow(JournalDefinition definition, long creation) implements Row {
  private static final int FORMAT = 2;
  private static final int FORMAT_WITHOUT_CREATION = 1;
  // A filter's object, list, tokens and their characters, for each character of its text.
  private static final int MEMORY_FACTOR = 8;

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static DefinitionRow decode(byte[] value) {
    BodyReader in = new BodyReader().wrap(ByteBuffer.wrap(value), 0, value.length);
    int format = RowFormat.read(in, FORMAT_WITHOUT_CREATION, FORMAT);
    DefinitionRow row =
        new DefinitionRow(
            DefinitionFormat.read(in), format == FORMAT ? in.readLong("creation") : 0);
    RowFormat.checkEnd(in, value);
    return row;
  }

  @Override
  public byte[] encode() {
    ByteBuffer out =
        ByteBuffer.allocate(2 * Varint.MAX_BYTES + DefinitionFormat.maxSize(definition));
    Varint.write(out, FORMAT);
    DefinitionFormat.write(out, definition);
    Varint.write(out, creation);
    return RowFormat.bytes(out);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_FACTOR * DefinitionFormat.maxSize(definition);
  }
}
