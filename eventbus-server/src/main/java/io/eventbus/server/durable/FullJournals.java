package io.eventbus.server.durable;

import io.eventbus.journal.JournalCatalog;
import io.eventbus.server.advisory.Advisory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Journals that refuse events of this bus's clients, because they are at their limits. Any thread.
 */
final class FullJournals {
  /** Time without a refusal after which a journal counts as having room. */
  static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Supplier<JournalCatalog> catalog;
  private final Consumer<Advisory> advisories;
  private final LongSupplier nanoTime;
  // Times of the last refusals.
  private final Map<Integer, Long> refused = new ConcurrentHashMap<>();

  FullJournals(
      Supplier<JournalCatalog> catalog, Consumer<Advisory> advisories, LongSupplier nanoTime) {
    this.catalog = catalog;
    this.advisories = advisories;
    this.nanoTime = nanoTime;
  }

  /** Takes note of a refusal. */
  void refused(int journal) {
    if (refused.put(journal, nanoTime.getAsLong()) == null) {
      tell(journal, true);
    }
  }

  /** Looks which journals have refused nothing for a while. */
  void look() {
    refused.forEach(
        (journal, at) -> {
          if (nanoTime.getAsLong() - at >= QUIET_NANOS && refused.remove(journal, at)) {
            tell(journal, false);
          }
        });
  }

  private void tell(int journal, boolean full) {
    JournalCatalog.Item item = catalog.get().find(journal);
    if (item != null) {
      JournalName name = JournalName.of(item.definition().name());
      advisories.accept(new Advisory.JournalFull(name.account(), name.name(), full));
    }
  }
}
