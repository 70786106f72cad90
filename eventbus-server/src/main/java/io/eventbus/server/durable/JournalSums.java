package io.eventbus.server.durable;

import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalListener;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
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

  /** Durable subscriptions that are read in one round; and those of one journal more. */
  static final int MAX_CURSORS = 10_000;

  private record Held(String account, long bytes, long delayedBytes, long events, long cursors) {}

  private record Sum(
      long bytes,
      long events,
      long cursors,
      long maxLag,
      Map<String, DurableFigures.Account> accounts) {}

  private final Journals journals;
  private final JournalQuotas quotas;
  private final Set<Integer> changed = ConcurrentHashMap.newKeySet();

  // On the thread that refreshes:
  private final Map<Integer, Held> held = new HashMap<>();
  private final Map<Integer, Long> lags = new HashMap<>();
  // Journals whose lag may have changed, in the order of their changes.
  private final Set<Integer> lagging = new LinkedHashSet<>();

  private volatile Sum sum = new Sum(0, 0, 0, 0, Map.of());

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
    List<Integer> unread = new ArrayList<>();
    for (int i = 0; i < MAX_READ && all.hasNext(); i++) {
      int journal = all.next();
      // First, so that a change from now on is seen.
      all.remove();
      try {
        JournalFigures figures = journals.figures(journal);
        JournalCatalog.Item item = catalog.find(journal);
        if (figures == null || item == null) {
          held.remove(journal);
          lags.remove(journal);
        } else {
          held.put(
              journal,
              new Held(
                  JournalName.of(item.definition().name()).account(),
                  figures.bytes(),
                  figures.delayedBytes(),
                  figures.events(),
                  figures.cursors()));
          lagging.add(journal);
        }
      } catch (JournalsUnavailableException e) {
        // Perhaps only this journal's rows cannot be read.
        unread.add(journal);
      }
    }
    changed.addAll(unread);
    long bytes = 0;
    long events = 0;
    long subscriptions = 0;
    Map<String, DurableFigures.Account> accounts = new HashMap<>();
    for (Held each : held.values()) {
      bytes += each.bytes;
      events += each.events;
      subscriptions += each.cursors;
      accounts.merge(
          each.account,
          new DurableFigures.Account(1, each.bytes + each.delayedBytes),
          (a, b) -> new DurableFigures.Account(a.journals() + b.journals(), a.bytes() + b.bytes()));
    }
    lookAtLags();
    long maxLag = lags.values().stream().reduce(0L, Math::max);
    sum = new Sum(bytes, events, subscriptions, maxLag, accounts);
    quotas.look(accounts);
  }

  /** Reads how far durable subscriptions are behind: a part of them at a time, if they are many. */
  private void lookAtLags() {
    Iterator<Integer> all = lagging.iterator();
    for (long read = 0; read < MAX_CURSORS && all.hasNext(); ) {
      int journal = all.next();
      Held each = held.get(journal);
      long lag = 0;
      if (each != null && each.cursors > 0) {
        read += each.cursors;
        try {
          lag = journals.maxLag(journal, MAX_CURSORS);
        } catch (JournalsUnavailableException e) {
          // Behind the others in the next round.
          all.remove();
          lagging.add(journal);
          return;
        }
      }
      all.remove();
      if (lag > 0) {
        lags.put(journal, lag);
      } else {
        lags.remove(journal);
      }
    }
  }

  /** Returns the figures. Any thread; does not wait. */
  DurableFigures figures() {
    Sum now = sum;
    return new DurableFigures(
        journals.catalog().all().size(),
        now.bytes,
        now.events,
        now.cursors,
        now.maxLag,
        journals.pendingBytes(),
        now.accounts);
  }
}
