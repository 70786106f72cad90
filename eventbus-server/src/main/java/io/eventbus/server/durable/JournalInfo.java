package io.eventbus.server.durable;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.TopicFilter;
import java.util.List;

/**
 * Journal for operators.
 *
 * @param number which subscribers see as the producer of its events
 * @param filters the topics whose events it keeps
 * @param retention until when
 */
public record JournalInfo(
    JournalName name,
    int number,
    List<TopicFilter> filters,
    KeepPolicy keep,
    Retention retention,
    FullPolicy full) {
  static JournalInfo of(JournalCatalog.Item item) {
    JournalDefinition definition = item.definition();
    return new JournalInfo(
        JournalName.of(definition.name()),
        item.number(),
        definition.filters(),
        definition.keep(),
        definition.retention(),
        definition.full());
  }
}
