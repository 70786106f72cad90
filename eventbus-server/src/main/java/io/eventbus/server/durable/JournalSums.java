package io.eventbus.server.durable;

import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalListener;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Sums of what all journals hold. Only journals that have changed are read again, a bounded number
 * at a time.
 */
final class JournalSums implements JournalListener {
  /** Journals that are read in one round. */
  static final int MAX_READ = 1_000;

  private record Held(String account, long bytes, long delayedBytes, long events) {}

  private record Sum(long bytes, long events, Map<String, DurableFigures.Account> accounts) {}

  private final Journals journals;
  private final JournalQuotas quotas;
  private final Set<Integer> changed = ConcurrentHashMap.newKeySet();

  // On the thread that refreshes:
  private final Map<Integer, Held> held = new HashMap<>();

  private volatile Sum sum = new Sum(0, 0, Map.of());

  /**
   * Creates sums that are 0 until the first {@link #refresh}.
   *
   * @param quotas decide by the sums
   */
  JournalSums(Journals journals, JournalQuotas quotas) {
    this.journals = journals;
    this.quotas = quotas;
    journals.catalog().all().forEach(item -> changed.add(item.number()));
  }

  @Override
  public void applied(AppliedChanges changes) {
    changed.addAll(changes.journals());
  }

  /** Reads what has changed; waits for the disk. For one thread at a time. */
  void refresh() {
    JournalCatalog catalog = journals.catalog();
    Iterator<Integer> all = changed.iterator();
    for (int i = 0; i < MAX_READ && all.hasNext(); i++) {
      int journal = all.next();
      // First, so that a change from now on is seen.
      all.remove();
      try {
        JournalFigures figures = journals.figures(journal);
        JournalCatalog.Item item = catalog.find(journal);
        if (figures == null || item == null) {
          held.remove(journal);
        } else {
          held.put(
              journal,
              new Held(
                  JournalName.of(item.definition().name()).account(),
                  figures.bytes(),
                  figures.delayedBytes(),
                  figures.events()));
        }
      } catch (JournalsUnavailableException e) {
        changed.add(journal);
        break;
      }
    }
    long bytes = 0;
    long events = 0;
    Map<String, DurableFigures.Account> accounts = new HashMap<>();
    for (Held each : held.values()) {
      bytes += each.bytes;
      events += each.events;
      accounts.merge(
          each.account,
          new DurableFigures.Account(1, each.bytes + each.delayedBytes),
          (a, b) -> new DurableFigures.Account(a.journals() + b.journals(), a.bytes() + b.bytes()));
    }
    sum = new Sum(bytes, events, accounts);
    quotas.look(accounts);
  }

  /** Returns the figures. Any thread; does not wait. */
  DurableFigures figures() {
    Sum now = sum;
    return new DurableFigures(
        journals.catalog().all().size(),
        now.bytes,
        now.events,
        journals.pendingBytes(),
        now.accounts);
  }
}
