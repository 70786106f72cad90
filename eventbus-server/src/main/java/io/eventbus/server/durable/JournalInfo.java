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
 * @param creation number of its creation, which no other journal has; 0 if it has none
 * @param filters the topics whose events it keeps
 * @param retention until when
 */
public record JournalInfo(
    JournalName name,
    int number,
    long creation,
    List<TopicFilter> filters,
    KeepPolicy keep,
    Retention retention,
    FullPolicy full) {
  static JournalInfo of(JournalCatalog.Item item) {
    JournalDefinition definition = item.definition();
    return new JournalInfo(
        JournalName.of(definition.name()),
        item.number(),
        item.creation(),
        definition.filters(),
        definition.keep(),
        definition.retention(),
        definition.full());
  }

  /** Returns whether a client that has read a creation of the journal has read this one. */
  public boolean isCreation(long read) {
    return read == 0 || creation == 0 || read == creation;
  }
}
