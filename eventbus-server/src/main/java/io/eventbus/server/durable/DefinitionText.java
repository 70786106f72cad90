package io.eventbus.server.durable;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ValueType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Definitions of journals as operators write them, each part a text. */
public final class DefinitionText {
  /** Part with the filters, and spaces between. */
  public static final String FILTERS = "filters";

  /** Parts besides the filters. */
  public static final Set<String> OPTIONS =
      Set.of("keep", "max-age", "max-bytes", "max-events", "full");

  private DefinitionText() {}

  /**
   * Reads a definition. What is not given stays as before; of a new one only the filters have to be
   * given.
   *
   * @param given returns the text of a part, null if it is not given
   * @param before null for a new one
   * @throws IllegalArgumentException if a part is missing or illegal, saying which
   */
  public static JournalDefinition read(
      JournalName name, Function<String, @Nullable String> given, @Nullable JournalInfo before) {
    Retention old = before == null ? Retention.UNLIMITED : before.retention();
    return new JournalDefinition(
        name.name(),
        filters(given.apply(FILTERS), before),
        choice(given, "keep", KeepPolicy.class, before == null ? KeepPolicy.ALL : before.keep()),
        new Retention(
            number(given, "max-age", ValueType.TIME, old.ageMillis()),
            number(given, "max-bytes", ValueType.SIZE, old.bytes()),
            number(given, "max-events", ValueType.COUNT, old.events())),
        choice(
            given, "full", FullPolicy.class, before == null ? FullPolicy.DROP_OLD : before.full()));
  }

  private static List<TopicFilter> filters(@Nullable String text, @Nullable JournalInfo before) {
    if (text == null) {
      if (before == null) {
        throw new IllegalArgumentException(
            FILTERS + ": missing (expected: filters with spaces between)");
      }
      return before.filters();
    }
    List<TopicFilter> filters = new ArrayList<>();
    for (String filter : text.strip().split(" +", -1)) {
      if (TopicFilter.problem(filter) != null) {
        throw new IllegalArgumentException(
            FILTERS + ": illegal (expected: filters such as orders.> with spaces between)");
      }
      filters.add(TopicFilter.parse(filter));
    }
    return filters;
  }

  private static long number(
      Function<String, @Nullable String> given, String part, ValueType type, long before) {
    String text = given.apply(part);
    if (text == null) {
      return before;
    }
    try {
      return type.read(text);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(
          part + ": illegal (expected: " + type.expectation() + ")", e);
    }
  }

  private static <E extends Enum<E>> E choice(
      Function<String, @Nullable String> given, String part, Class<E> type, E before) {
    String text = given.apply(part);
    if (text == null) {
      return before;
    }
    for (E constant : type.getEnumConstants()) {
      if (of(constant).equals(text)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(
        part
            + ": illegal (expected: "
            + String.join(
                " or ", Arrays.stream(type.getEnumConstants()).map(DefinitionText::of).toList())
            + ")");
  }

  /** Returns a definition in one line, for people: its filters, and what is not the default. */
  static String of(JournalDefinition definition) {
    Retention retention = definition.retention();
    List<String> parts = new ArrayList<>();
    definition.filters().forEach(filter -> parts.add(filter.toString()));
    if (definition.keep() != KeepPolicy.ALL) {
      parts.add("keep=" + of(definition.keep()));
    }
    if (retention.ageMillis() > 0) {
      parts.add("max-age=" + ValueType.time(Duration.ofMillis(retention.ageMillis())));
    }
    if (retention.bytes() > 0) {
      parts.add("max-bytes=" + retention.bytes());
    }
    if (retention.events() > 0) {
      parts.add("max-events=" + retention.events());
    }
    if (definition.full() != FullPolicy.DROP_OLD) {
      parts.add("full=" + of(definition.full()));
    }
    return String.join(" ", parts);
  }

  /** Returns the text of a choice, for example {@code drop-old}. */
  public static String of(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
