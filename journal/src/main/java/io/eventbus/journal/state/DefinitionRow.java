package io.eventbus.journal.state;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.codec.DefinitionFormat;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;

/** Row of a journal's definition. */
public record DefinitionRow(JournalDefinition definition) implements Row {
  private static final int FORMAT = 1;
  // A filter's object, list, tokens and their characters, for each character of its text.
  private static final int MEMORY_FACTOR = 8;

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static DefinitionRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    DefinitionRow row = new DefinitionRow(DefinitionFormat.read(in));
    RowFormat.checkEnd(in, value);
    return row;
  }

  @Override
  public byte[] encode() {
    ByteBuffer out = ByteBuffer.allocate(Varint.MAX_BYTES + DefinitionFormat.maxSize(definition));
    Varint.write(out, FORMAT);
    DefinitionFormat.write(out, definition);
    return RowFormat.bytes(out);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_FACTOR * DefinitionFormat.maxSize(definition);
  }
}
