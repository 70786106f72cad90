package io.eventbus.server.durable;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalListener;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotsView;
import io.eventbus.journal.StoredEventReader;
import io.eventbus.journal.WaitingEvents;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.codec.EntryWriter;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.read.CursorReader;
import io.eventbus.journal.read.JournalPositions;
import io.eventbus.journal.read.JournalReader;
import io.eventbus.journal.read.LatestReader;
import io.eventbus.journal.read.ReadRequest;
import io.eventbus.journal.read.SlotReader;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.Shard;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.state.ShardLimits;
import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Journals in memory, by the rules of a real shard. Applies each entry at once, or when it is told
 * to. Any thread.
 */
public final class FakeJournals implements Journals {
  /** Number of the creation of the first journal; those of others follow. */
  public static final long FIRST_CREATION = 101;

  private final MapRows rows = new MapRows();
  private final Shard shard = new Shard(ShardLimits.DEFAULT, Shard.CACHE_BYTES, true);
  private final List<JournalListener> listeners = new ArrayList<>();
  private final List<AppliedChanges> told = new ArrayList<>();
  private final List<Runnable> held = new ArrayList<>();
  private final List<CompletableFuture<Void>> catchingUp = new ArrayList<>();
  private final List<Runnable> waiters = new ArrayList<>();
  private long creations = FIRST_CREATION - 1;
  private JournalCatalog catalog = JournalCatalog.of(List.of());
  private boolean holds;
  private boolean full;
  private boolean unavailable;
  private boolean loses;
  private boolean copies;
  private boolean fails;
  private boolean delays;
  private final List<Runnable> answers = new ArrayList<>();
  private boolean readable = true;
  private long stamp = 1_000;

  /** Sets whether entries wait for {@link #applyHeld}. */
  public synchronized void holds(boolean now) {
    holds = now;
  }

  /** Waits until as many entries wait. */
  public synchronized void awaitHeld(int entries) throws InterruptedException {
    while (held.size() < entries) {
      wait();
    }
  }

  /** Applies the entries that wait. */
  public synchronized void applyHeld() {
    List<Runnable> all = List.copyOf(held);
    held.clear();
    all.forEach(Runnable::run);
    List<CompletableFuture<Void>> caughtUp = List.copyOf(catchingUp);
    catchingUp.clear();
    caughtUp.forEach(stage -> stage.complete(null));
  }

  /** Tells listeners again of everything, as after an error of the disk. */
  public synchronized void tellAgain() {
    told.forEach(applied -> List.copyOf(listeners).forEach(each -> each.applied(applied)));
  }

  /** Lets time of the shard pass, in milliseconds. */
  public synchronized void passMillis(long millis) {
    stamp += millis;
  }

  /** Takes one event of a shared cursor; returns the number of its delivery. */
  public int takeAttempt(int journal, String name) {
    RecordResult joined = joinCursor(journal, name, "test", 9).toCompletableFuture().join();
    long epoch = ((RecordResult.CursorState) joined).epoch();
    RecordResult taken = takeEvents(journal, name, epoch, 1, 1).toCompletableFuture().join();
    return ((RecordResult.Taken) taken).runs().get(0).attempt();
  }

  /** Sets whether there is no room; wakes those that wait if there is. */
  public synchronized void full(boolean now) {
    full = now;
    if (!now) {
      List<Runnable> all = List.copyOf(waiters);
      waiters.clear();
      all.forEach(Runnable::run);
    }
  }

  /** Waits until somebody waits for room. */
  public synchronized void awaitWaiter() throws InterruptedException {
    while (waiters.isEmpty()) {
      wait();
    }
  }

  /** Sets whether events can be read. */
  public synchronized void readable(boolean now) {
    readable = now;
  }

  /** Sets whether entries are applied and nobody is told. */
  public synchronized void losesAnswers(boolean now) {
    loses = now;
  }

  /** Sets whether entries are applied and answers wait for {@link #answer}. */
  public synchronized void delaysAnswers(boolean now) {
    delays = now;
  }

  /** Sets whether reading fails as it should not. */
  public synchronized void fails(boolean now) {
    fails = now;
  }

  private void mayFail() {
    if (fails) {
      throw new IllegalStateException("as if a row were damaged");
    }
  }

  /** Sets whether entries come with a copy, of which listeners are not told. */
  public synchronized void copies(boolean now) {
    copies = now;
    if (!now) {
      catalog = JournalCatalog.of(catalog.all());
    }
  }

  /** Returns the number of answers that wait. */
  public synchronized int delayed() {
    return answers.size();
  }

  /** Gives an answer that waits. */
  public synchronized void answer(int index) {
    answers.remove(index).run();
  }

  /** Returns how many entries are applied. */
  public synchronized int applied() {
    return told.size();
  }

  /** Sets whether nothing is answered. */
  public synchronized void unavailable(boolean now) {
    unavailable = now;
  }

  @Override
  public synchronized JournalCatalog catalog() {
    return catalog;
  }

  @Override
  public synchronized boolean append(PublishHead head, ByteBuffer events, AppendListener listener) {
    if (full) {
      return false;
    }
    ByteBuffer entry =
        ByteBuffer.allocate(
            EntryWriter.HEAD_BYTES + EntryWriter.maxSize(head) + events.remaining());
    EntryWriter.begin(entry);
    EntryWriter.writeHead(entry, head);
    entry.put(events.duplicate());
    entry.flip();
    apply(
        entry,
        () -> listener.unavailable(new JournalsUnavailableException("journals: gone")),
        listener::completed);
    return true;
  }

  private interface Result {
    void completed(RecordResult result);
  }

  private void apply(ByteBuffer entry, Runnable failed, Result result) {
    Runnable task =
        () -> {
          if (unavailable) {
            failed.run();
          } else if (loses) {
            RecordResult unused = apply(entry);
            failed.run();
          } else {
            RecordResult applied = apply(entry);
            if (delays) {
              answers.add(() -> result.completed(applied));
            } else {
              result.completed(applied);
            }
          }
        };
    if (holds) {
      held.add(task);
      notifyAll();
    } else {
      task.run();
    }
  }

  private synchronized RecordResult apply(ByteBuffer entry) {
    EntryWriter.setStamp(entry, 0, ++stamp);
    ShardChanges changes;
    ShardRecord record;
    try {
      Entry read = new EntryReader().read(entry);
      record = read.records().get(0);
      changes = shard.apply(read, rows);
    } catch (EntryFormatException e) {
      throw new AssertionError(e);
    }
    rows.commit();
    change(record, changes.results().get(0));
    if (copies) {
      return changes.results().get(0);
    }
    List<AppliedChanges.AppliedChunk> chunks = new ArrayList<>();
    changes
        .chunks()
        .forEach(
            chunk ->
                chunks.add(
                    new AppliedChanges.AppliedChunk(
                        chunk.journal(),
                        chunk.index().firstPosition(),
                        chunk.index().lastPosition(),
                        chunk.bytes())));
    AppliedChanges applied =
        new AppliedChanges(
            changes.stamp(),
            true,
            chunks,
            changes.journals(),
            changes.released(),
            changes.regrouped());
    told.add(applied);
    List.copyOf(listeners).forEach(listener -> listener.applied(applied));
    return changes.results().get(0);
  }

  private synchronized CompletionStage<RecordResult> submit(ShardRecord record) {
    if (full) {
      return CompletableFuture.failedFuture(
          JournalsUnavailableException.unsent("journals: full (expected: another try later)"));
    }
    ByteBuffer entry = ByteBuffer.allocate(EntryWriter.HEAD_BYTES + EntryWriter.maxSize(record));
    EntryWriter.begin(entry);
    EntryWriter.write(entry, record);
    entry.flip();
    CompletableFuture<RecordResult> stage = new CompletableFuture<>();
    apply(
        entry,
        () ->
            stage.completeExceptionally(
                new JournalsUnavailableException(
                    "journals: no answer (expected: one within 10 s)")),
        stage::complete);
    return stage;
  }

  private void change(ShardRecord record, RecordResult result) {
    if (record instanceof ShardRecord.CreateJournal create
        && result instanceof RecordResult.JournalCreated created) {
      catalog =
          catalog.with(
              new JournalCatalog.Item(created.journal(), create.definition(), create.creation()));
    } else if (record instanceof ShardRecord.ChangeJournal change
        && result instanceof RecordResult.Done) {
      JournalCatalog.Item item = Objects.requireNonNull(catalog.find(change.journal()));
      catalog =
          catalog.with(
              new JournalCatalog.Item(item.number(), change.definition(), item.creation()));
    } else if (record instanceof ShardRecord.DeleteJournal delete) {
      catalog = catalog.without(delete.journal());
    }
  }

  /** Waits for entries that wait, as a replica that is behind does. */
  @Override
  public synchronized CompletionStage<Void> appliedUpToNow() {
    if (unavailable) {
      return CompletableFuture.failedFuture(
          new JournalsUnavailableException("journals: not caught up (expected: within 2 s)"));
    }
    if (held.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> stage = new CompletableFuture<>();
    catchingUp.add(stage);
    return stage;
  }

  @Override
  public synchronized void whenRoom(Runnable task) {
    if (full) {
      waiters.add(task);
      notifyAll();
    } else {
      task.run();
    }
  }

  @Override
  public synchronized long pendingBytes() {
    return 0;
  }

  @Override
  public CompletionStage<RecordResult> create(JournalDefinition definition) {
    return submit(new ShardRecord.CreateJournal(definition, ++creations));
  }

  @Override
  public CompletionStage<RecordResult> change(int journal, JournalDefinition definition) {
    return submit(new ShardRecord.ChangeJournal(journal, definition));
  }

  @Override
  public CompletionStage<RecordResult> delete(int journal) {
    return submit(new ShardRecord.DeleteJournal(journal));
  }

  @Override
  public CompletionStage<RecordResult> trim(int journal, long upTo) {
    return submit(new ShardRecord.Trim(journal, upTo));
  }

  @Override
  public CompletionStage<RecordResult> purge(int journal, String topic, long from, long to) {
    return submit(new ShardRecord.Purge(journal, topic, from, to));
  }

  @Override
  public CompletionStage<RecordResult> createCursor(
      int journal,
      String name,
      TopicFilter filter,
      CursorMode mode,
      CursorStart start,
      long position) {
    return submit(new ShardRecord.CreateCursor(journal, name, filter, mode, start, position));
  }

  @Override
  public CompletionStage<RecordResult> attachCursor(
      int journal, String name, String owner, long replaces) {
    return submit(new ShardRecord.AttachCursor(journal, name, owner, replaces));
  }

  @Override
  public CompletionStage<RecordResult> detachCursor(int journal, String name, long epoch) {
    return submit(new ShardRecord.DetachCursor(journal, name, epoch));
  }

  @Override
  public CompletionStage<RecordResult> settleCursor(
      int journal, String name, long epoch, long upTo) {
    return submit(new ShardRecord.SettleCursor(journal, name, epoch, upTo));
  }

  @Override
  public CompletionStage<RecordResult> joinCursor(
      int journal, String name, String owner, int maxAttempts) {
    return submit(new ShardRecord.JoinCursor(journal, name, owner, maxAttempts));
  }

  @Override
  public CompletionStage<RecordResult> leaveCursor(
      int journal, String name, long epoch, boolean failed) {
    return submit(new ShardRecord.LeaveCursor(journal, name, epoch, failed));
  }

  @Override
  public CompletionStage<RecordResult> takeEvents(
      int journal, String name, long epoch, long serial, int max) {
    return submit(new ShardRecord.TakeEvents(journal, name, epoch, serial, max));
  }

  @Override
  public CompletionStage<RecordResult> settleEvents(
      int journal, String name, long epoch, long serial, List<Settlement> settlements) {
    return submit(new ShardRecord.SettleEvents(journal, name, epoch, serial, settlements));
  }

  @Override
  public CompletionStage<RecordResult> settleSlots(
      int journal, String name, long epoch, SlotProgress progress) {
    return submit(new ShardRecord.SettleSlots(journal, name, epoch, progress));
  }

  @Override
  public CompletionStage<RecordResult> redrive(
      int journal, String name, long from, long to, boolean discard) {
    return submit(new ShardRecord.Redrive(journal, name, from, to, discard));
  }

  @Override
  public CompletionStage<RecordResult> deleteCursor(int journal, String name, long epoch) {
    return submit(new ShardRecord.DeleteCursor(journal, name, epoch));
  }

  @Override
  public synchronized @Nullable JournalFigures figures(int journal) {
    if (unavailable) {
      throw new JournalsUnavailableException("journals: closed (expected: open ones)");
    }
    mayFail();
    JournalCounters counters = JournalPositions.counters(rows, journal);
    return counters == null
        ? null
        : new JournalFigures(
            counters.firstPosition(),
            counters.lastPosition(),
            counters.events(),
            counters.bytes(),
            counters.topics(),
            counters.producers(),
            counters.delayed(),
            counters.delayedBytes(),
            counters.cursors(),
            stamp);
  }

  @Override
  public synchronized List<CursorView> cursors(int journal, String after, int max) {
    return CursorReader.cursors(rows, journal, after, max);
  }

  @Override
  public synchronized @Nullable CursorView cursor(int journal, String name) {
    return CursorReader.cursor(rows, journal, name);
  }

  @Override
  public synchronized List<ConsumerView> consumers(int journal, String name, long after, int max) {
    return CursorReader.consumers(rows, journal, name, after, max);
  }

  @Override
  public synchronized List<WaitingEvents> waiting(
      int journal, String name, long due, long after, int max) {
    return CursorReader.waiting(rows, journal, name, due, after, max);
  }

  @Override
  public synchronized long maxLag(int journal, int max) {
    return CursorReader.maxLag(rows, journal, max);
  }

  @Override
  public synchronized @Nullable SlotsView slots(int journal, String name, long epoch) {
    return SlotReader.slots(rows, journal, name, epoch);
  }

  @Override
  public synchronized List<DeadEvent> deadEvents(int journal, String name, long after, int max) {
    return CursorReader.deadEvents(rows, journal, name, after, max);
  }

  @Override
  public synchronized long lastOfTopic(int journal, String topic) {
    return JournalPositions.lastOfTopic(rows, journal, topic);
  }

  @Override
  public synchronized long positionAt(int journal, long time) {
    return JournalPositions.positionAt(rows, journal, time);
  }

  @Override
  public StoredEventReader reader(int journal, TopicFilter filter) {
    JournalReader all = new JournalReader(journal);
    LatestReader latest = new LatestReader(journal);
    return (from, maxBytes) -> {
      synchronized (this) {
        mayFail();
        if (!readable) {
          throw new JournalsUnavailableException("journals: unreadable (expected: readable)");
        }
        JournalCatalog.Item item = catalog.find(journal);
        if (item == null) {
          return null;
        }
        ReadRequest request =
            new ReadRequest(from, topic -> matches(journal, topic, filter), maxBytes, stamp);
        return item.definition().keep() == KeepPolicy.LATEST
            ? latest.read(rows, request)
            : all.read(rows, request);
      }
    };
  }

  private boolean matches(int journal, long topic, TopicFilter filter) {
    byte[] name = rows.get(Keys.topicName(journal, topic));
    return name != null && filter.matches(new String(name, StandardCharsets.UTF_8));
  }

  @Override
  public synchronized Watch watch(JournalListener listener) {
    listeners.add(listener);
    return () -> {
      synchronized (this) {
        listeners.remove(listener);
      }
    };
  }
}
