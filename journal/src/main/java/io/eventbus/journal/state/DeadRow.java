package io.eventbus.journal.state;

import io.eventbus.journal.Settlement;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.DefinitionFormat;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;

/**
 * Row of an event that no consumer of a shared cursor gets any more. Immutable.
 *
 * @param attempts how often it was delivered
 * @param reason why the last delivery failed; empty for none
 * @param stamp when it died, in milliseconds of the shard's time
 */
public record DeadRow(int attempts, String reason, long stamp) {
  private static final int FORMAT = 1;

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static DeadRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    DeadRow row =
        new DeadRow(
            (int) RowFormat.readNumber(in, "attempts", 1, TakenRun.MAX_ATTEMPTS),
            in.readString("reason", Settlement.MAX_REASON_BYTES),
            RowFormat.readNumber(in, "stamp", 0, Long.MAX_VALUE));
    RowFormat.checkEnd(in, value);
    return row;
  }

  byte[] encode() {
    ByteBuffer out = ByteBuffer.allocate(3 * Varint.MAX_BYTES + DefinitionFormat.maxSize(reason));
    Varint.write(out, FORMAT);
    Varint.write(out, attempts);
    DefinitionFormat.writeString(out, reason);
    Varint.write(out, stamp);
    return RowFormat.bytes(out);
  }
}
