package io.eventbus.journal.state;

import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Row of what a producer has published to a topic: the last number, ranges of numbers that were
 * accepted, and the last frames with the answers that they got.
 */
final class ProducerRow implements Row {
  /** Maximum number of ranges. Of more, the one with the lowest numbers is forgotten. */
  static final int MAX_RANGES = 8;

  /** Maximum number of frames. */
  static final int MAX_FRAMES = 8;

  private static final int FORMAT = 1;
  private static final int RANGE = 2;
  private static final int FRAME = 4;
  private static final int ACCEPTED = 0;
  private static final int MEMORY_BYTES = 72;
  private static final long[] NONE = {};
  // The order is part of the format.
  private static final List<JournalRefusalReason> REASONS =
      List.of(
          JournalRefusalReason.NO_JOURNAL,
          JournalRefusalReason.EXPECTATION_FAILED,
          JournalRefusalReason.STORE_FULL,
          JournalRefusalReason.EVENT_TOO_LARGE);

  // Of a row without frames: nothing was published yet.
  private long last;
  private long stamp;
  // First and last number of each range, ascending, never next to each other.
  private long[] ranges = NONE;
  // First number, count, first position (0 if unknown) and answer of each frame, the oldest first.
  private long[] frames = NONE;

  ProducerRow(long stamp) {
    this.stamp = stamp;
  }

  static ProducerRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    long last = in.readLong("last");
    ProducerRow row = new ProducerRow(in.readLong("stamp"));
    row.last = last;
    row.ranges = new long[RANGE * in.readLength("ranges", MAX_RANGES)];
    for (int i = 0; i < row.ranges.length; i++) {
      row.ranges[i] = last - in.readLong("range");
    }
    row.frames = new long[FRAME * in.readLength("frames", MAX_FRAMES)];
    for (int i = 0; i < row.frames.length; i += FRAME) {
      row.frames[i] = last - in.readLong("first");
      row.frames[i + 1] = in.readCount("count");
      row.frames[i + 2] = in.readLong("position");
      int answerAt = in.position();
      row.frames[i + 3] = in.readCount("answer");
      if (row.frames[i + 3] > REASONS.size()) {
        throw in.tooBig("answer", answerAt, row.frames[i + 3], REASONS.size());
      }
    }
    RowFormat.checkEnd(in, value);
    return row;
  }

  @Override
  public byte[] encode() {
    ByteBuffer out = ByteBuffer.allocate(Varint.MAX_BYTES * (5 + ranges.length + frames.length));
    Varint.write(out, FORMAT);
    Varint.write(out, last);
    Varint.write(out, stamp);
    Varint.write(out, ranges.length / RANGE);
    for (long bound : ranges) {
      Varint.write(out, last - bound);
    }
    Varint.write(out, frames.length / FRAME);
    for (int i = 0; i < frames.length; i += FRAME) {
      Varint.write(out, last - frames[i]);
      Varint.write(out, frames[i + 1]);
      Varint.write(out, frames[i + 2]);
      Varint.write(out, frames[i + 3]);
    }
    return RowFormat.bytes(out);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_BYTES + Long.BYTES * (ranges.length + frames.length);
  }

  /** Returns the last number that was used up. */
  long last() {
    return last;
  }

  /** Returns when the producer was last heard, in milliseconds of the shard's time. */
  long stamp() {
    return stamp;
  }

  /** Takes note that the producer was heard. */
  void heard(long now) {
    stamp = now;
  }

  /**
   * Takes note of accepted events.
   *
   * @param position the position of the first, 0 if they have none yet
   */
  void accept(long first, int count, long position) {
    addRange(first, first + count - 1);
    addFrame(first, count, position, ACCEPTED);
  }

  /** Takes note of refused events, whose numbers are used up. */
  void refuse(long first, int count, JournalRefusalReason reason) {
    addFrame(first, count, 0, 1 + REASONS.indexOf(reason));
  }

  private void addRange(long from, long to) {
    int n = ranges.length;
    if (n > 0 && ranges[n - 1] == from - 1) {
      ranges[n - 1] = to;
      return;
    }
    ranges = withRoom(ranges, RANGE, MAX_RANGES);
    n = ranges.length;
    ranges[n - 2] = from;
    ranges[n - 1] = to;
  }

  private void addFrame(long first, int count, long position, long answer) {
    frames = withRoom(frames, FRAME, MAX_FRAMES);
    int at = frames.length - FRAME;
    frames[at] = first;
    frames[at + 1] = count;
    frames[at + 2] = position;
    frames[at + 3] = answer;
    last = first + count - 1;
  }

  /** Returns an array with room for an item at its end; the first item goes if there are many. */
  private static long[] withRoom(long[] items, int size, int max) {
    if (items.length < size * max) {
      return Arrays.copyOf(items, items.length + size);
    }
    System.arraycopy(items, size, items, 0, items.length - size);
    return items;
  }

  /** Returns whether all of these numbers are known to be accepted. */
  boolean hasAccepted(long from, long to) {
    for (int i = 0; i < ranges.length; i += RANGE) {
      if (ranges[i] <= from && to <= ranges[i + 1]) {
        return true;
      }
    }
    return false;
  }

  /** Returns why a frame was refused that had all of these numbers; null if none is known. */
  @Nullable JournalRefusalReason refusal(long from, long to) {
    for (int i = 0; i < frames.length; i += FRAME) {
      if (frames[i] <= from && to < frames[i] + frames[i + 1] && frames[i + 3] != ACCEPTED) {
        return REASONS.get((int) frames[i + 3] - 1);
      }
    }
    return null;
  }

  /** Returns the position of an accepted event, 0 if it is not known. */
  long position(long number) {
    for (int i = 0; i < frames.length; i += FRAME) {
      if (frames[i] <= number
          && number < frames[i] + frames[i + 1]
          && frames[i + 3] == ACCEPTED
          && frames[i + 2] > 0) {
        return frames[i + 2] + number - frames[i];
      }
    }
    return 0;
  }
}
