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

  private record Held(long bytes, long events) {}

  private final Journals journals;
  private final Set<Integer> changed = ConcurrentHashMap.newKeySet();

  // On the thread that refreshes:
  private final Map<Integer, Held> held = new HashMap<>();

  private volatile Held sum = new Held(0, 0);

  /** Creates sums that are 0 until the first {@link #refresh}. */
  JournalSums(Journals journals) {
    this.journals = journals;
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
        if (figures == null || catalog.find(journal) == null) {
          held.remove(journal);
        } else {
          held.put(journal, new Held(figures.bytes(), figures.events()));
        }
      } catch (JournalsUnavailableException e) {
        changed.add(journal);
        break;
      }
    }
    long bytes = 0;
    long events = 0;
    for (Held each : held.values()) {
      bytes += each.bytes;
      events += each.events;
    }
    sum = new Held(bytes, events);
  }

  /** Returns the figures. Any thread; does not wait. */
  DurableFigures figures() {
    Held now = sum;
    return new DurableFigures(
        journals.catalog().all().size(), now.bytes, now.events, journals.pendingBytes());
  }
}
