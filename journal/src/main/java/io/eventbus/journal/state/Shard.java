package io.eventbus.journal.state;

import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.ProducersExpired;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.AttachCursor;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.DetachCursor;
import io.eventbus.journal.codec.ShardRecord.ExpireProducers;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Purge;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.Release;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;
import io.eventbus.journal.codec.ShardRecord.SettleEvents;
import io.eventbus.journal.codec.ShardRecord.SettleSlots;
import io.eventbus.journal.codec.ShardRecord.TakeEvents;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.journal.rows.Rows;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rules of a shard: the one function that every member must compute alike.
 *
 * <p>Between entries it keeps nothing but rows that it has read or written, up to a number of
 * bytes: a new one goes on where another has stopped. Confined to the thread that applies entries.
 */
public final class Shard {
  /** Maximum size of the rows that a shard keeps in memory, in bytes, in every shard. */
  public static final long CACHE_BYTES = 16L << 20;

  private final ShardLimits limits;
  private final boolean alone;
  private final RowCache cache;
  private final SharedWriter shared = new SharedWriter();
  private @Nullable ShardCounters counters;

  /**
   * Creates the rules.
   *
   * @param limits {@link ShardLimits#DEFAULT} but in tests
   * @param cacheBytes {@link #CACHE_BYTES} but in tests
   * @param alone whether there is no other replica, so that chunks of which nothing can be read are
   *     passed over
   */
  public Shard(ShardLimits limits, long cacheBytes, boolean alone) {
    this.limits = limits;
    this.alone = alone;
    this.cache = new RowCache(cacheBytes);
  }

  /**
   * Applies an entry. The caller commits the rows before the next call, and never calls again after
   * a failure: then nothing of this entry may be committed, and a new {@code Shard} goes on.
   *
   * @param entry as it was read; its events are copied
   * @param rows those of before the entry, to be changed
   * @return the results and what was written
   * @throws io.eventbus.journal.rows.StoreFailedException if rows cannot be read or written
   */
  public ShardChanges apply(Entry entry, Rows rows) {
    ShardCounters current = counters;
    if (current == null) {
      current = ShardContext.readCounters(rows);
      counters = current;
    }
    ShardContext context = new ShardContext(limits, alone, cache, rows, current, entry.stamp());
    EntryRules rules = new EntryRules(context, shared);
    List<RecordResult> results = new ArrayList<>(entry.records().size());
    for (ShardRecord record : entry.records()) {
      results.add(rules.apply(record));
    }
    rules.appender.end();
    cache.flush(rows);
    rows.put(Keys.shard(), current.encode());
    return new ShardChanges(
        context.stamp,
        results,
        context.chunks,
        context.changedJournals,
        context.releasedJournals,
        context.regroupedJournals);
  }

  /** Rules for the records of one entry. */
  private static final class EntryRules {
    private final ShardContext context;
    private final JournalRules journals;
    private final ProducerTable producers;
    private final EventAppender appender;
    private final DelayRules delays;
    private final PublishRules publishing;
    private final RemovalRules removal;
    private final CursorRules cursors;
    private final SharedCursorRules sharedCursors;
    private final KeySharedRules keyShared;

    EntryRules(ShardContext context, SharedWriter shared) {
      this.context = context;
      TopicTable topics = new TopicTable(context);
      journals = new JournalRules(context);
      producers = new ProducerTable(context, topics);
      appender = new EventAppender(context, topics, shared);
      delays = new DelayRules(context, topics, appender);
      publishing = new PublishRules(context, topics, producers, appender, delays);
      removal = new RemovalRules(context, topics, shared);
      CursorTable table = new CursorTable(context);
      cursors = new CursorRules(context, table);
      sharedCursors = new SharedCursorRules(context, table);
      keyShared = new KeySharedRules(context, table);
    }

    RecordResult apply(ShardRecord record) {
      if (record instanceof Publish publish) {
        return publishing.publish(publish);
      } else if (record instanceof CreateJournal create) {
        return journals.create(create);
      } else if (record instanceof ChangeJournal change) {
        return journals.change(change);
      } else if (record instanceof DeleteJournal delete) {
        return journals.delete(delete);
      } else if (record instanceof Trim trim) {
        return removal.trim(trim);
      } else if (record instanceof Purge purge) {
        return removal.purge(purge);
      } else if (record instanceof CreateCursor create) {
        return cursors.create(create);
      } else if (record instanceof AttachCursor attach) {
        return cursors.attach(attach);
      } else if (record instanceof DetachCursor detach) {
        return cursors.detach(detach);
      } else if (record instanceof SettleCursor settle) {
        return cursors.settle(settle);
      } else if (record instanceof DeleteCursor delete) {
        return cursors.delete(delete);
      } else if (record instanceof JoinCursor join) {
        return keyShared.isOf(join) ? keyShared.join(join) : sharedCursors.join(join);
      } else if (record instanceof LeaveCursor leave) {
        return keyShared.isOf(leave) ? keyShared.leave(leave) : sharedCursors.leave(leave);
      } else if (record instanceof TakeEvents take) {
        return sharedCursors.take(take);
      } else if (record instanceof SettleEvents settle) {
        return sharedCursors.settle(settle);
      } else if (record instanceof Redrive redrive) {
        return keyShared.isOf(redrive)
            ? keyShared.redrive(redrive)
            : sharedCursors.redrive(redrive);
      } else if (record instanceof SettleSlots settle) {
        return keyShared.settle(settle);
      } else if (record instanceof Release release) {
        return delays.release(release);
      } else if (record instanceof ExpireProducers expire) {
        return expire(expire);
      } else if (record instanceof Tick) {
        return new Done();
      }
      throw new AssertionError("sealed: " + record.getClass());
    }

    private RecordResult expire(ExpireProducers record) {
      long newest = context.stamp - ShardLimits.MIN_PRODUCER_IDLE_MILLIS;
      int forgotten =
          producers.forget(Math.min(record.before() - 1, newest), ProducerTable.MAX_SCANNED);
      return new ProducersExpired(forgotten, !producers.isExhausted());
    }
  }
}
