package io.eventbus.journal.state;

import io.eventbus.journal.TakenRun;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.MalformedFrameException;

/**
 * Events of a shared cursor that were given back. Key and value of a row.
 *
 * @param due when they may be taken, in milliseconds of the shard's time
 * @param run their positions, and the number of the next delivery
 */
public record WaitingRun(long due, TakenRun run) {
  private static final int FORMAT = 1;

  /**
   * Reads a row.
   *
   * @throws MalformedFrameException if it is not as it was written
   */
  public static WaitingRun decode(byte[] key, byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    long from = Keys.lastNumber(key);
    long length = RowFormat.readNumber(in, "length", 0, ShardLimits.MAX_IN_FLIGHT - 1);
    int attempt = (int) RowFormat.readNumber(in, "attempt", 1, TakenRun.MAX_ATTEMPTS);
    RowFormat.checkEnd(in, value);
    return new WaitingRun(Keys.due(key), new TakenRun(from, from + length, attempt));
  }

  byte[] encode() {
    return RowFormat.ofNumbers(FORMAT, run.to() - run.from(), run.attempt());
  }
}
