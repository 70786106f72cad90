package io.eventbus.server.durable;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ValueType;
import io.eventbus.server.security.Identity;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * Journals of the configuration: when the bus starts, those that are not there are created, and the
 * others have to be as they are configured. Immutable.
 */
public final class ConfiguredJournals {
  private static final long TIMEOUT_SECONDS = 60;
  private static final String KEY = ConfigKey.DURABLE_JOURNALS.key();
  private static final String ACCOUNT = "account";

  private record Configured(JournalName name, JournalDefinition definition) {}

  private final List<Configured> journals;

  private ConfiguredJournals(List<Configured> journals) {
    this.journals = journals;
  }

  /**
   * Reads the value of {@code durable.journals}.
   *
   * @param texts one for each journal: its name, its filters, and options such as {@code
   *     max-age=7d}, with spaces between
   * @throws ConfigException if one is illegal
   */
  public static ConfiguredJournals read(List<String> texts) {
    List<String> problems = new ArrayList<>();
    Map<JournalName, Configured> journals = new HashMap<>();
    for (String text : texts) {
      try {
        Configured journal = readOne(text);
        if (journals.put(journal.name, journal) != null) {
          throw new IllegalArgumentException("a journal of this name before (expected: one)");
        }
      } catch (IllegalArgumentException e) {
        problems.add(KEY + ": in \"" + text + "\" " + e.getMessage());
      }
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return new ConfiguredJournals(
        journals.values().stream().sorted((one, other) -> one.name.compareTo(other.name)).toList());
  }

  private static Configured readOne(String text) {
    Map<String, String> parts = new HashMap<>();
    List<String> words = List.of(text.strip().split(" +", -1));
    List<String> filters = new ArrayList<>();
    for (String word : words.subList(1, words.size())) {
      int equals = word.indexOf('=');
      if (equals < 0) {
        filters.add(word);
        continue;
      }
      String option = word.substring(0, equals);
      if (!DefinitionText.OPTIONS.contains(option) && !option.equals(ACCOUNT)) {
        throw new IllegalArgumentException(
            "the unknown option \""
                + option
                + "\" (expected: account, keep, max-age, max-bytes, max-events or full)");
      }
      if (parts.put(option, word.substring(equals + 1)) != null) {
        throw new IllegalArgumentException(option + ": given twice (expected: once)");
      }
    }
    if (!filters.isEmpty()) {
      parts.put(DefinitionText.FILTERS, String.join(" ", filters));
    }
    String account = parts.getOrDefault(ACCOUNT, "");
    if (!account.isEmpty() && !Identity.isLabel(account)) {
      throw new IllegalArgumentException("account: illegal " + Identity.LABEL_EXPECTED);
    }
    JournalName name = new JournalName(account, words.get(0));
    return new Configured(name, DefinitionText.read(name, parts::get, null));
  }

  /**
   * Creates the journals that are not there, and checks the others; waits for the disk.
   *
   * @param place where the journals are, for messages
   * @throws IOException if a journal is not as it is configured, or cannot be created
   */
  public void apply(JournalAdministration administration, String place) throws IOException {
    for (Configured journal : journals) {
      Optional<JournalInfo> found = administration.find(journal.name);
      if (found.isPresent()) {
        check(journal, found.get(), place);
      } else {
        create(journal, administration, place);
      }
    }
  }

  private static void check(Configured journal, JournalInfo found, String place)
      throws IOException {
    Map<String, String> expected =
        parts(
            new JournalInfo(
                journal.name,
                found.number(),
                found.creation(),
                journal.definition.filters(),
                journal.definition.keep(),
                journal.definition.retention(),
                journal.definition.full()));
    Map<String, String> stored = parts(found);
    List<String> differences =
        expected.keySet().stream()
            .filter(part -> !Objects.equals(expected.get(part), stored.get(part)))
            .sorted()
            .map(part -> part + "=" + stored.get(part) + " (expected: " + expected.get(part) + ")")
            .toList();
    if (!differences.isEmpty()) {
      throw new IOException(
          KEY
              + ": the journal "
              + shown(journal.name)
              + " in "
              + place
              + " has "
              + String.join(", ", differences)
              + "; change the configuration, or the journal with eventbus journal change");
    }
  }

  private static Map<String, String> parts(JournalInfo journal) {
    Set<String> filters =
        journal.filters().stream().map(TopicFilter::toString).collect(Collectors.toSet());
    return Map.of(
        DefinitionText.FILTERS,
        filters.stream().sorted().collect(Collectors.joining(" ")),
        "keep",
        DefinitionText.of(journal.keep()),
        "max-age",
        ValueType.time(Duration.ofMillis(journal.retention().ageMillis())),
        "max-bytes",
        Long.toString(journal.retention().bytes()),
        "max-events",
        Long.toString(journal.retention().events()),
        "full",
        DefinitionText.of(journal.full()));
  }

  private static String shown(JournalName name) {
    return name.account().isEmpty() ? name.name() : name.name() + " of account " + name.account();
  }

  private static void create(Configured journal, JournalAdministration administration, String place)
      throws IOException {
    String problem =
        KEY + ": the journal " + shown(journal.name) + " in " + place + " is not created: ";
    try {
      int unused =
          administration
              .create(journal.name, journal.definition)
              .toCompletableFuture()
              .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(problem + cause.getMessage(), e);
    } catch (TimeoutException e) {
      throw new IOException(
          problem + "no answer (expected: one within " + TIMEOUT_SECONDS + " s)", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(problem + "interrupted", e);
    }
  }
}
