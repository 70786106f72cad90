package io.eventbus.journal.codec;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Format of a journal's definition: name, number of filters, filters, what it keeps, bounds of age,
 * bytes and events, what happens when it is full.
 */
public final class DefinitionFormat {
  // The order of these is part of the format.
  private static final List<KeepPolicy> KEEP = List.of(KeepPolicy.ALL, KeepPolicy.LATEST);
  private static final List<FullPolicy> FULL = List.of(FullPolicy.DROP_OLD, FullPolicy.REFUSE);

  private DefinitionFormat() {}

  /** Returns how many bytes a definition takes at most. */
  public static int maxSize(JournalDefinition definition) {
    int size = maxSize(definition.name()) + 6 * Varint.MAX_BYTES;
    for (TopicFilter filter : definition.filters()) {
      size += maxSize(filter.toString());
    }
    return size;
  }

  /** Writes a definition into a buffer that has room for it. */
  public static void write(ByteBuffer out, JournalDefinition definition) {
    writeString(out, definition.name());
    Varint.write(out, definition.filters().size());
    for (TopicFilter filter : definition.filters()) {
      writeString(out, filter.toString());
    }
    Varint.write(out, KEEP.indexOf(definition.keep()));
    Varint.write(out, definition.retention().ageMillis());
    Varint.write(out, definition.retention().bytes());
    Varint.write(out, definition.retention().events());
    Varint.write(out, FULL.indexOf(definition.full()));
  }

  /**
   * Reads a definition.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if there is none
   */
  public static JournalDefinition read(BodyReader in) {
    int start = in.position();
    String name = in.readString("journal.name", Topic.MAX_BYTES);
    int count = readAtMost(in, "journal.filters", JournalDefinition.MAX_FILTERS);
    List<TopicFilter> filters = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      filters.add(readFilter(in, "journal.filters"));
    }
    KeepPolicy keep = readChoice(in, "journal.keep", KEEP);
    try {
      Retention retention =
          new Retention(
              in.readLong("retention.ageMillis"),
              in.readLong("retention.bytes"),
              in.readLong("retention.events"));
      FullPolicy full = readChoice(in, "journal.full", FULL);
      return new JournalDefinition(name, filters, keep, retention, full);
    } catch (IllegalArgumentException e) {
      throw in.malformed("journal", start, String.valueOf(e.getMessage()), "a legal definition");
    }
  }

  /** Reads a filter. */
  public static TopicFilter readFilter(BodyReader in, String field) {
    int at = in.position();
    String text = in.readString(field, Topic.MAX_BYTES);
    String problem = TopicFilter.problem(text);
    if (problem != null) {
      throw in.malformed(field, at, problem, "a filter");
    }
    return TopicFilter.parse(text);
  }

  static <T> T readChoice(BodyReader in, String field, List<T> choices) {
    return choices.get(readAtMost(in, field, choices.size() - 1));
  }

  static int readAtMost(BodyReader in, String field, int max) {
    int at = in.position();
    int value = in.readCount(field);
    if (value > max) {
      throw in.tooBig(field, at, value, max);
    }
    return value;
  }

  /** Writes a string into a buffer that has room for it. */
  public static void writeString(ByteBuffer out, String text) {
    writeBytes(out, text.getBytes(StandardCharsets.UTF_8));
  }

  static void writeBytes(ByteBuffer out, byte[] bytes) {
    Varint.write(out, bytes.length);
    out.put(bytes);
  }

  /** Returns how many bytes a string takes at most. */
  public static int maxSize(String text) {
    // A char takes at most three bytes of UTF-8.
    return Varint.MAX_BYTES + 3 * text.length();
  }
}
