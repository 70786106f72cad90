package io.eventbus.journal.state;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import java.nio.ByteBuffer;

/** Rules of the creation, change and deletion of journals. */
final class JournalRules {
  private static final byte[] KINDS = {
    Keys.TOPIC,
    Keys.TOPIC_NAME,
    Keys.CHUNK,
    Keys.CHUNK_INDEX,
    Keys.PRODUCER,
    Keys.LATEST,
    Keys.LATEST_POSITION,
    Keys.CURSOR,
    Keys.DELAYED,
    Keys.CONSUMER,
    Keys.WAITING,
    Keys.DEAD
  };

  private final ShardContext context;

  JournalRules(ShardContext context) {
    this.context = context;
  }

  RecordResult create(CreateJournal record) {
    JournalDefinition definition = record.definition();
    byte[] present = context.rows.get(Keys.journalName(definition.name()));
    if (present != null) {
      int number = ByteBuffer.wrap(present).getInt();
      Journal journal = context.journal(number);
      if (journal != null && journal.definition().equals(definition)) {
        return new JournalCreated(number);
      }
      return new Refused(
          JournalRefusalReason.JOURNAL_EXISTS,
          "journal.name: "
              + definition.name()
              + " is that of journal "
              + number
              + " (expected: a new name, or the same definition)");
    }
    long journals = context.counters.journals;
    if (journals >= context.limits.journals()
        || context.counters.lastJournal == Integer.MAX_VALUE) {
      return PublishRules.full(
          "journals of the shard", journals + 1, "" + context.limits.journals());
    }
    context.counters.journals++;
    int number = (int) ++context.counters.lastJournal;
    context.rows.put(
        Keys.journalName(definition.name()),
        ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
    context.cache.put(Keys.journal(number), new DefinitionRow(definition, record.creation()));
    context.changed(new Journal(number, definition, record.creation(), new JournalCounters()));
    return new JournalCreated(number);
  }

  RecordResult change(ChangeJournal record) {
    Journal journal = context.journal(record.journal());
    if (journal == null) {
      return ShardContext.noJournal(record.journal());
    }
    JournalDefinition now = record.definition();
    JournalDefinition before = journal.definition();
    if (!now.name().equals(before.name()) || now.keep() != before.keep()) {
      return new Refused(
          JournalRefusalReason.NOT_CHANGEABLE,
          "journal: "
              + now.name()
              + ", keep "
              + now.keep()
              + " (expected: "
              + before.name()
              + ", keep "
              + before.keep()
              + ", which cannot be changed)");
    }
    context.cache.put(Keys.journal(journal.number()), new DefinitionRow(now, journal.creation()));
    context.changed(journal);
    return new Done();
  }

  RecordResult delete(DeleteJournal record) {
    Journal journal = context.journal(record.journal());
    if (journal == null) {
      return ShardContext.noJournal(record.journal());
    }
    int number = journal.number();
    JournalCounters counters = journal.counters();
    context.counters.journals--;
    context.counters.producers -= counters.producers;
    context.counters.delayed -= counters.delayed;
    context.counters.delayedBytes -= counters.delayedBytes;
    context.cache.forget(number);
    for (byte kind : KINDS) {
      context.rows.deleteRange(Keys.first(kind, number), Keys.end(kind, number));
    }
    context.rows.delete(Keys.journalName(journal.definition().name()));
    context.rows.delete(Keys.journal(number));
    context.rows.delete(Keys.journalCounters(number));
    context.changedJournals.add(number);
    return new Done();
  }
}
