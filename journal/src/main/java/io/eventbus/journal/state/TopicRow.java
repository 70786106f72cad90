package io.eventbus.journal.state;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.protocol.BodyReader;
import org.jspecify.annotations.Nullable;

/**
 * Row of a topic. A topic whose last event was trimmed is empty; its row stays as long as something
 * is known of its producers, so that repetitions are found.
 */
public final class TopicRow implements Row {
  private static final int FORMAT = 1;
  private static final int MEMORY_BYTES = 64;

  final long number;
  // 0 if the topic is empty.
  long lastPosition;
  // Number of the last event in the topic, also if that was trimmed.
  long lastSequence;
  long producers;
  // Size of the last event in a journal that keeps no others.
  long latestBytes;

  // The definition for which it was found whether it selects the topic; not stored.
  private @Nullable JournalDefinition asked;
  private boolean selected;

  TopicRow(long number, long lastSequence) {
    this.number = number;
    this.lastSequence = lastSequence;
  }

  /** Reads the value of a row. */
  public static TopicRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    long number = in.readLong("number");
    long lastPosition = in.readLong("lastPosition");
    TopicRow row = new TopicRow(number, in.readLong("lastSequence"));
    row.lastPosition = lastPosition;
    row.producers = in.readLong("producers");
    row.latestBytes = in.readLong("latestBytes");
    RowFormat.checkEnd(in, value);
    return row;
  }

  @Override
  public byte[] encode() {
    return RowFormat.ofNumbers(FORMAT, number, lastPosition, lastSequence, producers, latestBytes);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_BYTES;
  }

  /** Returns the position of the last event; 0 if the topic is empty. */
  public long lastPosition() {
    return lastPosition;
  }

  boolean isEmpty() {
    return lastPosition == 0;
  }

  /** Returns whether a definition selects the topic of this row. */
  @SuppressWarnings("ReferenceEquality") // only a question that need not be asked again
  boolean isSelectedBy(JournalDefinition definition, byte[] name) {
    if (asked != definition) {
      asked = definition;
      selected = TopicTable.isSelected(definition, name);
    }
    return selected;
  }
}
