package io.eventbus.journal;

import io.eventbus.protocol.TopicFilter;
import java.util.List;

/**
 * Definition of a journal. Immutable.
 *
 * @param name unique in its shard
 * @param filters the topics whose events it keeps: 1 to {@value #MAX_FILTERS}
 * @param keep which of them
 * @param retention until when
 * @param full what happens to new events when the retention's bytes or events are reached
 */
public record JournalDefinition(
    String name, List<TopicFilter> filters, KeepPolicy keep, Retention retention, FullPolicy full) {
  /** Maximum number of filters. */
  public static final int MAX_FILTERS = 64;

  /**
   * Checks the definition.
   *
   * @param name a legal name
   * @param filters 1 to {@value #MAX_FILTERS}, which are copied
   * @param keep not checked
   * @param retention not checked
   * @param full not checked
   * @throws IllegalArgumentException if a part is illegal, saying which
   */
  public JournalDefinition {
    String problem = JournalNames.problem(name);
    if (problem != null) {
      throw new IllegalArgumentException("journal.name: " + problem);
    }
    filters = List.copyOf(filters);
    if (filters.isEmpty() || filters.size() > MAX_FILTERS) {
      throw new IllegalArgumentException(
          "journal.filters of "
              + name
              + ": "
              + filters.size()
              + " (expected: 1 to "
              + MAX_FILTERS
              + ")");
    }
    for (TopicFilter filter : filters) {
      if (filter.isSystem()) {
        throw new IllegalArgumentException(
            "journal.filters of " + name + ": " + filter + " (expected: no system topics)");
      }
    }
  }

  /**
   * Returns whether the journal keeps events of a topic.
   *
   * @param topic a legal one
   * @return true if it does
   */
  public boolean selects(String topic) {
    for (TopicFilter filter : filters) {
      if (filter.matches(topic)) {
        return true;
      }
    }
    return false;
  }
}
