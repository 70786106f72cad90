package io.eventbus.journal.ratis;

import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.DefinitionRow;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import java.util.ArrayList;
import java.util.List;

/** Catalog of the journals in a store, and after each entry. */
final class CatalogRows {
  private CatalogRows() {}

  /** Reads the catalog of a store; waits for the disk. */
  static JournalCatalog read(ShardStore store) {
    List<JournalCatalog.Item> journals = new ArrayList<>();
    try (StoreLease rows = store.lease();
        RowScan scan =
            rows.scan(new byte[] {Keys.JOURNAL}, new byte[] {(byte) (Keys.JOURNAL + 1)})) {
      while (scan.next()) {
        DefinitionRow row = DefinitionRow.decode(scan.value());
        journals.add(
            new JournalCatalog.Item(Keys.journalOf(scan.key()), row.definition(), row.creation()));
      }
    }
    return JournalCatalog.of(journals);
  }

  /** Returns the catalog after an entry. */
  static JournalCatalog changed(JournalCatalog before, Entry entry, ShardChanges changes) {
    // Records that change a definition are alone in their entries.
    ShardRecord record = entry.records().get(0);
    RecordResult result = changes.results().get(0);
    if (record instanceof CreateJournal create && result instanceof JournalCreated created) {
      return created(before, created.journal(), create);
    } else if (record instanceof ChangeJournal change && result instanceof Done) {
      JournalCatalog.Item item = before.find(change.journal());
      return item == null
          ? before
          : before.with(
              new JournalCatalog.Item(item.number(), change.definition(), item.creation()));
    } else if (record instanceof DeleteJournal delete && result instanceof Done) {
      return before.without(delete.journal());
    }
    return before;
  }

  /** Adds a journal, unless it was there. */
  private static JournalCatalog created(JournalCatalog before, int number, CreateJournal record) {
    return before.find(number) != null
        ? before
        : before.with(new JournalCatalog.Item(number, record.definition(), record.creation()));
  }
}
