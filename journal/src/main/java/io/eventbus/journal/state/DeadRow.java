package io.eventbus.journal.state;

import io.eventbus.journal.Settlement;
import io.eventbus.journal.SlotState;
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
 * @param slot its slot, of a key-shared cursor; {@link #NO_SLOT} otherwise
 */
public record DeadRow(int attempts, String reason, long stamp, int slot) {
  /** Slot of an event of a cursor without slots. */
  public static final int NO_SLOT = -1;

  private static final int FORMAT = 1;
  private static final int FORMAT_WITH_SLOT = 2;

  /** Creates the row of an event of a cursor without slots. */
  public DeadRow(int attempts, String reason, long stamp) {
    this(attempts, reason, stamp, NO_SLOT);
  }

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static DeadRow decode(byte[] value) {
    BodyReader in = new BodyReader().wrap(ByteBuffer.wrap(value), 0, value.length);
    int format = RowFormat.read(in, FORMAT, FORMAT_WITH_SLOT);
    DeadRow row =
        new DeadRow(
            (int) RowFormat.readNumber(in, "attempts", 1, TakenRun.MAX_ATTEMPTS),
            in.readString("reason", Settlement.MAX_REASON_BYTES),
            RowFormat.readNumber(in, "stamp", 0, Long.MAX_VALUE),
            format == FORMAT
                ? NO_SLOT
                : (int) RowFormat.readNumber(in, "slot", 0, SlotState.SLOTS - 1));
    RowFormat.checkEnd(in, value);
    return row;
  }

  byte[] encode() {
    ByteBuffer out = ByteBuffer.allocate(4 * Varint.MAX_BYTES + DefinitionFormat.maxSize(reason));
    Varint.write(out, slot == NO_SLOT ? FORMAT : FORMAT_WITH_SLOT);
    Varint.write(out, attempts);
    DefinitionFormat.writeString(out, reason);
    Varint.write(out, stamp);
    if (slot != NO_SLOT) {
      Varint.write(out, slot);
    }
    return RowFormat.bytes(out);
  }
}
