package io.eventbus.journal.ratis;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.ProducersExpired;
import io.eventbus.journal.RecordResult.Released;
import io.eventbus.journal.RecordResult.Trimmed;
import io.eventbus.journal.Retention;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.ExpireProducers;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Release;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.journal.read.JournalPositions;
import io.eventbus.journal.read.OldestEvents;
import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.CursorRow;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.RetentionPolicy;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.protocol.MalformedFrameException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Duties of the leader of a shard: it asks by entries for what time brings about, so that all
 * members do the same. One record is under way at a time, or deletions of cursors. All methods but
 * {@link #applied} are for one thread, which may wait.
 */
final class ShardDuties {
  /** Time for which a producer is known that is not heard any more, in milliseconds. */
  static final long PRODUCER_IDLE_MILLIS = TimeUnit.DAYS.toMillis(7);

  /**
   * Time after which a cursor is deleted that nobody uses, in milliseconds. A shared one with
   * consumers is in use.
   */
  static final long CURSOR_IDLE_MILLIS = TimeUnit.DAYS.toMillis(7);

  private static final long EXPIRY_INTERVAL_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final long RETENTION_INTERVAL_MILLIS = TimeUnit.SECONDS.toMillis(1);
  private static final long SWEEP_INTERVAL_MILLIS = TimeUnit.MINUTES.toMillis(1);

  /** Time of the shard that passes without an entry, in milliseconds. */
  private static final long TICK_MILLIS = TimeUnit.MINUTES.toMillis(1);

  /** Maximum number of records of one kind for a journal, after which others have their turn. */
  private static final int MAX_RECORDS = 64;

  /** Maximum number of cursors of a journal that are deleted together. */
  private static final int MAX_CURSORS = 1_000;

  private final ShardStore store;
  private final Function<ShardRecord, CompletionStage<RecordResult>> log;
  private final Supplier<JournalCatalog> catalog;
  private final ShardClock clock;
  private final BiConsumer<Integer, String> onDamage;
  // Written on the thread that applies entries, too.
  private final Set<Integer> changed = new HashSet<>();
  private final Set<Integer> delaying = new HashSet<>();
  private final Map<Integer, Long> due = new HashMap<>();
  private long nextRetention;
  private long nextSweep;
  private long nextExpiry;
  // Consumers come back first: they may have been away with this bus.
  private long nextCursorExpiry;

  /**
   * Creates the duties of a leader.
   *
   * @param log takes a record
   * @param onDamage told of a journal whose rows cannot be read, and why; again at each look
   */
  ShardDuties(
      ShardStore store,
      Function<ShardRecord, CompletionStage<RecordResult>> log,
      Supplier<JournalCatalog> catalog,
      ShardClock clock,
      BiConsumer<Integer, String> onDamage) {
    this.store = store;
    this.log = log;
    this.catalog = catalog;
    this.clock = clock;
    this.onDamage = onDamage;
    nextCursorExpiry = clock.stamp() + EXPIRY_INTERVAL_MILLIS;
  }

  /** Has everything looked at. From before this call on, {@link #applied} is called. */
  void begin() {
    synchronized (changed) {
      catalog.get().all().forEach(item -> delaying.add(item.number()));
    }
  }

  /** Takes note of an entry. Any thread. */
  void applied(Entry entry, ShardChanges changes) {
    synchronized (changed) {
      changed.addAll(changes.journals());
      for (ShardRecord record : entry.records()) {
        if (record instanceof Publish publish && publish.head().delayMillis() > 0) {
          delaying.add(publish.head().journal());
        } else if (record instanceof Release release) {
          delaying.add(release.journal());
        }
      }
    }
  }

  /** Does what is due. */
  void perform() throws InterruptedException, ExecutionException {
    long now = clock.stamp();
    ExecutionException failure = null;
    try {
      release(now);
    } catch (ExecutionException e) {
      // The next round tries again; the other duties are done in this one.
      failure = e;
    }
    performOthers(now);
    if (failure != null) {
      throw failure;
    }
  }

  private void performOthers(long now) throws InterruptedException, ExecutionException {
    if (now >= nextRetention) {
      nextRetention = now + RETENTION_INTERVAL_MILLIS;
      retain(now);
    }
    if (now >= nextExpiry) {
      nextExpiry = now + EXPIRY_INTERVAL_MILLIS;
      expireProducers(now);
    }
    if (now >= nextCursorExpiry) {
      nextCursorExpiry = now + EXPIRY_INTERVAL_MILLIS;
      for (JournalCatalog.Item item : catalog.get().all()) {
        perform(item.number(), () -> deleteIdleCursors(item.number(), now));
      }
    }
    if (!catalog.get().all().isEmpty() && now - store.applied().stamp() >= TICK_MILLIS) {
      RecordResult unused = ask(new Tick());
    }
  }

  private interface JournalDuty {
    void perform() throws InterruptedException, ExecutionException;
  }

  /**
   * Does a duty for a journal. Rows of it that cannot be read are reported, and keep no other
   * journal from its duties.
   */
  private void perform(int journal, JournalDuty duty)
      throws InterruptedException, ExecutionException {
    try {
      duty.perform();
    } catch (DamagedRowException | MalformedFrameException e) {
      report(journal, e.getMessage());
    }
  }

  private void report(int journal, @Nullable String problem) {
    onDamage.accept(journal, String.valueOf(problem));
  }

  private RecordResult ask(ShardRecord record) throws InterruptedException, ExecutionException {
    // The stage ends by itself in time.
    return log.apply(record).toCompletableFuture().get();
  }

  private Set<Integer> take(Set<Integer> numbers) {
    synchronized (changed) {
      Set<Integer> taken = Set.copyOf(numbers);
      numbers.clear();
      return taken;
    }
  }

  private void release(long now) throws InterruptedException, ExecutionException {
    Set<Integer> looked = take(delaying);
    if (!looked.isEmpty()) {
      try (StoreLease rows = store.lease()) {
        for (int journal : looked) {
          perform(journal, () -> findDue(rows, journal));
        }
      }
    }
    for (Map.Entry<Integer, Long> next : Map.copyOf(due).entrySet()) {
      if (next.getValue() <= now) {
        releaseAll(next.getKey(), now);
        due.remove(next.getKey());
      }
    }
  }

  private void findDue(StoreLease rows, int journal) {
    JournalCounters counters = JournalPositions.counters(rows, journal);
    due.remove(journal);
    if (counters == null || counters.delayed() == 0) {
      return;
    }
    byte[] from = Keys.delayedFrom(journal, counters.delayedFrom());
    try (RowScan scan = rows.scan(from, Keys.end(Keys.DELAYED, journal))) {
      if (scan.next()) {
        due.put(journal, Keys.number(scan.key()));
      }
    }
  }

  private void releaseAll(int journal, long now) throws InterruptedException, ExecutionException {
    for (int i = 0; i < MAX_RECORDS; i++) {
      // Applied, it asks for another look.
      if (!(ask(new Release(journal, now)) instanceof Released released) || released.complete()) {
        return;
      }
    }
  }

  private void retain(long now) throws InterruptedException, ExecutionException {
    Set<Integer> looked = take(changed);
    boolean sweep = now >= nextSweep;
    if (sweep) {
      nextSweep = now + SWEEP_INTERVAL_MILLIS;
    }
    for (JournalCatalog.Item item : catalog.get().all()) {
      Retention retention = item.definition().retention();
      boolean byAge = retention.ageMillis() > 0;
      boolean bySize =
          item.definition().full() == FullPolicy.DROP_OLD
              && (retention.bytes() > 0 || retention.events() > 0);
      if ((byAge && sweep) || (bySize && (sweep || looked.contains(item.number())))) {
        perform(item.number(), () -> trim(item, now));
      }
    }
  }

  private void trim(JournalCatalog.Item item, long now)
      throws InterruptedException, ExecutionException {
    long upTo = upTo(item, now);
    for (int i = 0; upTo > 0 && i < MAX_RECORDS; i++) {
      if (!(ask(new Trim(item.number(), upTo)) instanceof Trimmed trimmed) || trimmed.complete()) {
        return;
      }
    }
  }

  private long upTo(JournalCatalog.Item item, long now) {
    try (StoreLease rows = store.lease()) {
      JournalCounters counters = JournalPositions.counters(rows, item.number());
      if (counters == null) {
        return 0;
      }
      try (OldestEvents oldest =
          OldestEvents.of(
              rows,
              item.number(),
              counters,
              item.definition().keep() == KeepPolicy.LATEST,
              problem -> report(item.number(), problem))) {
        return RetentionPolicy.trimUpTo(item.definition(), counters, oldest, now);
      }
    }
  }

  private void expireProducers(long now) throws InterruptedException, ExecutionException {
    long before = now - PRODUCER_IDLE_MILLIS;
    for (int i = 0; before > 0 && i < MAX_RECORDS; i++) {
      if (!(ask(new ExpireProducers(before)) instanceof ProducersExpired expired)
          || expired.complete()) {
        return;
      }
    }
  }

  private void deleteIdleCursors(int journal, long now)
      throws InterruptedException, ExecutionException {
    List<CompletionStage<RecordResult>> answers = new ArrayList<>();
    for (DeleteCursor idle : idleCursors(journal, now - CURSOR_IDLE_MILLIS)) {
      answers.add(log.apply(idle));
    }
    for (CompletionStage<RecordResult> answer : answers) {
      RecordResult unused = answer.toCompletableFuture().get();
    }
  }

  /** Returns the deletions of cursors; one that a consumer takes over meanwhile stays. */
  private List<DeleteCursor> idleCursors(int journal, long before) {
    List<DeleteCursor> idle = new ArrayList<>();
    try (StoreLease rows = store.lease();
        RowScan scan =
            rows.scan(Keys.first(Keys.CURSOR, journal), Keys.end(Keys.CURSOR, journal))) {
      while (idle.size() < MAX_CURSORS && scan.next()) {
        CursorRow cursor = CursorRow.decode(scan.value());
        if (cursor.stamp() < before) {
          String name = new String(Keys.name(scan.key()), StandardCharsets.UTF_8);
          idle.add(new DeleteCursor(journal, name, cursor.epoch()));
        }
      }
    }
    return idle;
  }
}
