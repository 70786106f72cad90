package io.eventbus.journal.state;

import io.eventbus.journal.CursorView;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.DefinitionFormat;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Row of a consumer of a shared cursor. Immutable.
 *
 * @param owner text that names the process of a bus
 * @param maxAttempts number of deliveries after which an event is dead
 * @param taken serial of the last record by which it took events
 * @param settled serial of the last record by which it settled events
 * @param runs what it has taken and not settled, by position; at most {@value
 *     ShardLimits#MAX_IN_FLIGHT} events
 */
public record ConsumerRow(
    String owner, int maxAttempts, long taken, long settled, List<TakenRun> runs) implements Row {
  private static final int FORMAT = 2;
  private static final int MEMORY_BYTES = 120;
  // The object of a run, and the reference to it.
  private static final int RUN_BYTES = 48;

  /** Copies the list. */
  public ConsumerRow {
    runs = List.copyOf(runs);
  }

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static ConsumerRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    String owner = in.readString("owner", CursorView.MAX_OWNER_BYTES);
    int maxAttempts = (int) RowFormat.readNumber(in, "maxAttempts", 1, TakenRun.MAX_ATTEMPTS);
    long taken = RowFormat.readNumber(in, "taken", 0, Long.MAX_VALUE);
    long settled = RowFormat.readNumber(in, "settled", 0, Long.MAX_VALUE);
    int count = (int) RowFormat.readNumber(in, "runs", 0, ShardLimits.MAX_IN_FLIGHT);
    List<TakenRun> runs = new ArrayList<>(count);
    long end = 0;
    int room = ShardLimits.MAX_IN_FLIGHT;
    for (int i = 0; i < count; i++) {
      // No position is so great that the last one of a run overflows.
      long max = Long.MAX_VALUE - ShardLimits.MAX_IN_FLIGHT - end - 1;
      long from = end + 1 + RowFormat.readNumber(in, "gap", 0, max);
      long to = from + RowFormat.readNumber(in, "length", 0, room - 1);
      int attempt = (int) RowFormat.readNumber(in, "attempt", 1, TakenRun.MAX_ATTEMPTS);
      TakenRun run = new TakenRun(from, to, attempt);
      runs.add(run);
      room -= run.events();
      end = to;
    }
    RowFormat.checkEnd(in, value);
    return new ConsumerRow(owner, maxAttempts, taken, settled, runs);
  }

  @Override
  public byte[] encode() {
    ByteBuffer out =
        ByteBuffer.allocate(
            (5 + 3 * runs.size()) * Varint.MAX_BYTES + DefinitionFormat.maxSize(owner));
    Varint.write(out, FORMAT);
    DefinitionFormat.writeString(out, owner);
    Varint.write(out, maxAttempts);
    Varint.write(out, taken);
    Varint.write(out, settled);
    Varint.write(out, runs.size());
    long end = 0;
    for (TakenRun run : runs) {
      Varint.write(out, run.from() - end - 1);
      Varint.write(out, run.to() - run.from());
      Varint.write(out, run.attempt());
      end = run.to();
    }
    return RowFormat.bytes(out);
  }

  /** Returns how many events it has. */
  public int events() {
    int events = 0;
    for (TakenRun run : runs) {
      events += run.events();
    }
    return events;
  }

  ConsumerRow afterTake(long serial, List<TakenRun> next) {
    return new ConsumerRow(owner, maxAttempts, serial, settled, next);
  }

  ConsumerRow afterSettlement(long serial, List<TakenRun> next) {
    return new ConsumerRow(owner, maxAttempts, taken, serial, next);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_BYTES + 2 * owner.length() + RUN_BYTES * runs.size();
  }
}
