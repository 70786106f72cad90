package io.eventbus.server.durable;

import io.eventbus.base.StageFailures;
import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.AppliedChanges.AppliedChunk;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalListener;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Consumers of the journals of this bus, and what they share: the ends of their journals, the
 * threads that read for those behind, the turns of durable subscriptions. Any thread.
 */
public final class JournalConsumers implements JournalListener {
  /** Number of threads that read. */
  static final int READERS = 2;

  private static final long PAUSE_MILLIS = 100;

  private final Journals journals;
  private final Loops loops;
  private final BusMemory memory;
  private final ByteBufAllocator allocator;
  private final long tailBytes;
  private final ReadTurns reads;
  private final PublishRoom publishRoom = new PublishRoom();
  private final KnownReaders readers;
  private final LongSupplier nanoTime;
  private final CursorOwner owner;
  private final Consumer<Advisory> advisories;
  private final Pauses timer;
  private final CursorLooks looks;
  private final ExclusiveTurns exclusive;
  private final SharedCursors shared;
  private final List<TailPieces> tails = new ArrayList<>();
  private final Map<Integer, ConsumedJournal> consumed = new ConcurrentHashMap<>();
  private final AtomicBoolean looksForEnds = new AtomicBoolean();
  // Written by the thread that applies entries.
  private volatile @Nullable JournalCatalog known;
  private volatile long stamp;
  // The oldest first; under the lock.
  private final Map<TailChunk, ConsumedJournal> kept = new LinkedHashMap<>();
  private long keptBytes;

  /**
   * Creates consumers; {@link #applied} has to be told of everything from then on.
   *
   * @param tailBytes bytes of chunks that are kept for consumers near the end of their journals
   * @param reads runs what waits for the disk
   * @param owner has the cursors of these consumers
   * @param advisories told of the consumers that get a durable subscription
   * @param timer runs what is tried again later
   * @param nanoTime clock such as {@link System#nanoTime}
   */
  JournalConsumers(
      Journals journals,
      Loops loops,
      BusMemory memory,
      ByteBufAllocator allocator,
      long tailBytes,
      ReadTurns reads,
      CursorOwner owner,
      Consumer<Advisory> advisories,
      Pauses timer,
      LongSupplier nanoTime) {
    this.journals = journals;
    this.loops = loops;
    this.memory = memory;
    this.allocator = allocator;
    this.tailBytes = tailBytes;
    this.reads = reads;
    this.nanoTime = nanoTime;
    this.owner = owner;
    this.advisories = advisories;
    this.timer = timer;
    looks = new CursorLooks(reads, timer, nanoTime);
    exclusive = new ExclusiveTurns(journals, owner, reads, looks, memory);
    shared = new SharedCursors(journals, owner, looks, memory, timer, () -> stamp, nanoTime);
    readers = new KnownReaders(journals);
    for (int i = 0; i < loops.count(); i++) {
      tails.add(new TailPieces(allocator, memory));
    }
  }

  Journals journals() {
    return journals;
  }

  ReadTurns reads() {
    return reads;
  }

  KnownReaders readers() {
    return readers;
  }

  public long nanoTime() {
    return nanoTime.getAsLong();
  }

  CursorOwner owner() {
    return owner;
  }

  Consumer<Advisory> advisories() {
    return advisories;
  }

  CursorLooks looks() {
    return looks;
  }

  ExclusiveTurns exclusive() {
    return exclusive;
  }

  /** Returns what runs tasks later that do not wait. */
  Pauses timer() {
    return timer;
  }

  SharedCursors shared() {
    return shared;
  }

  BusMemory memory() {
    return memory;
  }

  ByteBufAllocator allocator() {
    return allocator;
  }

  /** Returns the room for publications on their way to the disk. */
  public PublishRoom publishRoom() {
    return publishRoom;
  }

  /** Returns the time of the shard, in milliseconds. */
  long stamp() {
    return stamp;
  }

  TailPieces tail(int loop) {
    return tails.get(loop);
  }

  /** Returns a journal of an account; null if there is none. */
  public @Nullable JournalInfo find(String account, String name) {
    for (JournalInfo info : of(account)) {
      if (info.name().name().equals(name)) {
        return info;
      }
    }
    return null;
  }

  /** Returns the journals of an account that have topics of a filter, up to a number. */
  public List<JournalInfo> find(String account, TopicFilter filter, int max) {
    List<JournalInfo> found = new ArrayList<>();
    for (JournalInfo info : of(account)) {
      if (found.size() < max && info.filters().stream().anyMatch(filter::intersects)) {
        found.add(info);
      }
    }
    return found;
  }

  private List<JournalInfo> of(String account) {
    return journals.catalog().all().stream()
        .map(JournalInfo::of)
        .filter(info -> info.name().account().equals(account))
        .toList();
  }

  /**
   * Asks about a journal, on a thread that may wait for the disk, when everything is applied here
   * that any bus had before.
   *
   * @param address object that the clients sharing turns have in common
   * @param task gets the journals
   * @param failed gets the reason instead if it is not known what others had; any thread
   */
  public void ask(Object address, Consumer<Journals> task, Consumer<Throwable> failed) {
    var unused =
        journals
            .appliedUpToNow()
            .whenComplete(
                (nothing, failure) -> {
                  if (failure == null) {
                    reads.add(address, () -> task.accept(journals));
                  } else {
                    failed.accept(StageFailures.unwrap(failure));
                  }
                });
  }

  /** Completes as {@link Journals#appliedUpToNow}. */
  public CompletionStage<Void> appliedUpToNow() {
    return journals.appliedUpToNow();
  }

  /** Adds a consumer to a journal. */
  synchronized ConsumedJournal acquire(JournalInfo info) {
    ConsumedJournal journal =
        consumed.computeIfAbsent(info.number(), number -> new ConsumedJournal(info, loops));
    int unused = journal.addConsumers(1);
    return journal;
  }

  /** Removes a consumer from a journal. */
  synchronized void release(ConsumedJournal journal) {
    if (journal.addConsumers(-1) == 0) {
      consumed.remove(journal.number());
      journal.chunks().forEach(this::forget);
    }
  }

  @Override
  public void applied(AppliedChanges changes) {
    stamp = changes.stamp();
    JournalCatalog catalog = journals.catalog();
    boolean isOther = catalog != known;
    known = catalog;
    if (consumed.isEmpty()) {
      return;
    }
    Set<ConsumedJournal> changed = new HashSet<>();
    if (isOther) {
      changedCatalog(catalog, changed);
    }
    for (AppliedChunk chunk : changes.chunks()) {
      ConsumedJournal journal = consumed.get(chunk.journal());
      if (journal != null) {
        keep(journal, chunk);
        changed.add(journal);
      }
    }
    changed.forEach(
        journal -> {
          journal.wake();
          shared.changed(journal.number());
        });
    changes.released().forEach(shared::changed);
    changes.regrouped().forEach(shared::regrouped);
  }

  /**
   * Compares with another catalog. There is one, too, when the replica was opened anew: then it may
   * be a copy, of whose events and deletions nothing was told.
   */
  private void changedCatalog(JournalCatalog catalog, Set<ConsumedJournal> changed) {
    synchronized (this) {
      for (ConsumedJournal journal : consumed.values()) {
        if (catalog.find(journal.number()) == null) {
          journal.deleted();
          shared.deleted(journal.number());
          changed.add(journal);
        } else {
          journal.mayHaveGap();
        }
      }
    }
    if (looksForEnds.compareAndSet(false, true)) {
      reads.add(this, this::lookForEnds);
    }
  }

  /** Looks for the ends of all journals, on a thread that may wait for the disk. */
  private void lookForEnds() {
    looksForEnds.set(false);
    try {
      for (ConsumedJournal journal : consumed.values()) {
        JournalFigures figures = journals.figures(journal.number());
        if (figures != null) {
          journal.reached(figures.lastPosition());
          journal.wake();
          shared.changed(journal.number());
          shared.regrouped(journal.number());
        }
      }
    } catch (JournalsUnavailableException e) {
      if (looksForEnds.compareAndSet(false, true)) {
        reads.later(this, this::lookForEnds, PAUSE_MILLIS);
      }
    }
  }

  private synchronized void keep(ConsumedJournal journal, AppliedChunk applied) {
    if (consumed.get(applied.journal()) != journal) {
      return;
    }
    TailChunk before = journal.find(applied.from());
    TailChunk chunk = journal.add(applied);
    if (chunk == null) {
      return;
    }
    if (before != null) {
      forget(before);
    }
    kept.put(chunk, journal);
    keptBytes += chunk.size();
    memory.reserve(chunk.size());
    Iterator<Map.Entry<TailChunk, ConsumedJournal>> oldest = kept.entrySet().iterator();
    while (keptBytes > tailBytes && oldest.hasNext()) {
      Map.Entry<TailChunk, ConsumedJournal> next = oldest.next();
      oldest.remove();
      next.getValue().remove(next.getKey());
      release(next.getKey());
    }
  }

  private void forget(TailChunk chunk) {
    if (kept.remove(chunk) != null) {
      release(chunk);
    }
  }

  private void release(TailChunk chunk) {
    keptBytes -= chunk.size();
    memory.release(chunk.size());
  }
}
