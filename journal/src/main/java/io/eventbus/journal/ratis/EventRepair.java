package io.eventbus.journal.ratis;

import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole;
import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.copy.CopyRequest;
import io.eventbus.journal.copy.CopyRequest.Kind;
import io.eventbus.journal.copy.CopySource;
import io.eventbus.journal.copy.EventRow;
import io.eventbus.journal.read.JournalPositions;
import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreBatch;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.link.LinkServiceException;
import io.eventbus.raft.AppliedIndex;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repair of events that this replica cannot read, by the row of a replica that can. Readers wait
 * meanwhile. Events that every other replica has answered not to be able to read are lost.
 *
 * <p>A row is written as it is at another replica at an entry that is applied here, too. It is the
 * same at any later entry: one that changes the events of a row reads them first, and would have
 * ended this replica.
 */
final class EventRepair implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EventRepair.class);

  /** Maximum number of repairs that are wanted, or known to be in vain. */
  private static final int MAX_KNOWN = 1_024;

  /** Pause after an attempt at which not every replica has answered. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** Time for which lost events are not asked for again. */
  private static final Duration LOST = Duration.ofMinutes(1);

  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** Other replicas. */
  interface Others {
    /** Returns the ids of all members. */
    List<String> memberIds();

    /** Asks one of them, within a few seconds. */
    CompletableFuture<byte[]> ask(String member, byte[] question);
  }

  private record Place(KeepPolicy keep, int journal, long position) {
    Kind question() {
      return keep == KeepPolicy.LATEST ? Kind.LATEST : Kind.CHUNK;
    }

    byte rowKind() {
      return keep == KeepPolicy.LATEST ? Keys.LATEST : Keys.CHUNK;
    }

    @Override
    public String toString() {
      return "journal " + journal + ", position " + position;
    }
  }

  private enum Outcome {
    /** Nothing is damaged any more. */
    DONE,
    /** Not every replica has answered. */
    LATER,
    /** No replica can read it. */
    LOST
  }

  private static final class Repair {
    boolean underWay = true;
    long nextNanos;
    // The last position that is lost; before the place if none is.
    long lostTo = -1;
  }

  private final ShardOptions options;
  private final ShardStore store;
  private final ShardStateMachine machine;
  private final AppliedIndex applied;
  private final Others others;
  private final LongSupplier nanoTime;
  private final ThreadPoolExecutor executor;
  private final Map<Place, Repair> repairs = new LinkedHashMap<>();

  /**
   * Creates a repair.
   *
   * @param thread makes its thread, which waits for other replicas
   */
  EventRepair(
      ShardOptions options,
      ShardStore store,
      ShardStateMachine machine,
      AppliedIndex applied,
      Others others,
      LongSupplier nanoTime,
      ThreadFactory thread) {
    this.options = options;
    this.store = store;
    this.machine = machine;
    this.applied = applied;
    this.others = others;
    this.nanoTime = nanoTime;
    // Bounded by the number of repairs.
    executor =
        new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), thread);
    executor.allowCoreThreadTimeOut(true);
  }

  /**
   * Returns what of a batch can be given out: all of it, or what is before the first events that
   * are damaged here and may be read elsewhere, whose repair begins. Any thread.
   */
  ReadBatch check(KeepPolicy keep, int journal, ReadBatch batch) {
    for (ReadHole hole : batch.holes()) {
      long position = hole.from();
      while (hole.reason() == ReadHole.Reason.DAMAGED && position <= hole.to()) {
        long lostTo = lostTo(new Place(keep, journal, position));
        if (lostTo < position) {
          return batch.before(position);
        }
        // The end may not be known: then it is that of the hole.
        position = Math.min(lostTo, hole.to()) + 1;
      }
    }
    return batch;
  }

  /** Returns the last position of lost events; begins a repair if they are not known for that. */
  private synchronized long lostTo(Place place) {
    Repair repair = repairs.get(place);
    long now = nanoTime.getAsLong();
    if (repair != null && (repair.underWay || now - repair.nextNanos < 0)) {
      return repair.lostTo;
    }
    if (repair == null && repairs.size() >= MAX_KNOWN && !forgetOldest()) {
      return -1;
    }
    Repair begun = new Repair();
    repairs.put(place, begun);
    long entry = store.applied().index();
    try {
      boolean first = repair == null;
      executor.execute(() -> repair(place, begun, entry, first));
    } catch (RejectedExecutionException e) {
      repairs.remove(place);
    }
    return begun.lostTo;
  }

  private boolean forgetOldest() {
    for (Iterator<Repair> i = repairs.values().iterator(); i.hasNext(); ) {
      if (!i.next().underWay) {
        i.remove();
        return true;
      }
    }
    return false;
  }

  private void repair(Place place, Repair repair, long entry, boolean first) {
    // While a replica is away, another attempt follows each second.
    if (first) {
      LOG.warn("{}: {}: damaged here, asking the other replicas", options.shown(), place);
    }
    Outcome outcome = Outcome.LATER;
    try {
      outcome = find(place, entry);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.warn("{}: {}: not repaired", options.shown(), place, e);
    }
    long lostTo = -1;
    if (outcome == Outcome.LOST) {
      lostTo = end(place);
      LOG.error(
          "{}: {}: no replica can read it or what follows in its row: lost",
          options.shown(),
          place);
    }
    finish(place, repair, outcome, lostTo);
  }

  private synchronized void finish(Place place, Repair repair, Outcome outcome, long lostTo) {
    repair.underWay = false;
    repair.lostTo = lostTo;
    Duration pause = outcome == Outcome.LOST ? LOST : PAUSE;
    repair.nextNanos = nanoTime.getAsLong() + pause.toNanos();
    if (outcome == Outcome.DONE) {
      repairs.remove(place);
    }
  }

  private Outcome find(Place place, long entry) throws InterruptedException {
    Outcome outcome = Outcome.LOST;
    for (String member : others.memberIds()) {
      if (member.equals(options.member())) {
        continue;
      }
      try {
        EventRow row = ask(member, place);
        if (row.entry() < entry) {
          throw new IOException("entry " + row.entry() + " (expected: at least " + entry + ")");
        }
        applied.await(row.entry(), TIMEOUT).get(2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        if (!machine.restore(rows -> restore(place, row, rows))) {
          return Outcome.LATER;
        }
        LOG.warn("{}: {}: repaired with the row of {}", options.shown(), place, member);
        return Outcome.DONE;
      } catch (LinkServiceException e) {
        outcome = e.code().equals(CopySource.DAMAGED) ? outcome : Outcome.LATER;
        LOG.debug("{}: {}: {}: {}", options.shown(), place, member, e.getMessage());
      } catch (IOException | ExecutionException | TimeoutException e) {
        outcome = Outcome.LATER;
        LOG.debug("{}: {}: {}: {}", options.shown(), place, member, e.toString());
      }
    }
    return outcome;
  }

  private EventRow ask(String member, Place place)
      throws InterruptedException, ExecutionException, TimeoutException {
    CopyRequest question =
        new CopyRequest(
            place.question(), options.group(), options.member(), place.position(), place.journal());
    try {
      return EventRow.decode(
          others.ask(member, question.encode()).get(TIMEOUT.toSeconds(), TimeUnit.SECONDS),
          place.rowKind(),
          place.journal(),
          place.position());
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LinkServiceException refusal) {
        throw refusal;
      }
      throw e;
    }
  }

  /** Writes a row, unless it was removed, replaced or repaired meanwhile. */
  private void restore(Place place, EventRow row, StoreBatch rows) throws IOException {
    try (StoreLease now = store.lease()) {
      if (place.keep() == KeepPolicy.LATEST) {
        byte[] key = JournalPositions.eventRow(now, Keys.LATEST, place.journal(), place.position());
        if (Arrays.equals(key, row.key()) && readable(now, place, row.key()) == null) {
          rows.put(row.key(), row.value());
        }
        return;
      }
      JournalCounters counters = JournalPositions.counters(now, place.journal());
      long first = Keys.number(row.key());
      if (counters == null || first < counters.firstPosition()) {
        return;
      }
      EventRow own = readable(now, place, row.key());
      if (own == null) {
        rows.put(row.key(), row.value());
      }
      if (own == null || index(now, place.journal(), first) == null) {
        EventRow events = own == null ? row : own;
        rows.put(
            Keys.chunkIndex(place.journal(), first),
            ChunkIndex.of(events.view(place.position())).encode());
      }
    }
  }

  private static @Nullable EventRow readable(StoreLease now, Place place, byte[] key) {
    try {
      byte[] value = now.get(key);
      if (value == null) {
        return null;
      }
      EventRow row = new EventRow(now.applied().index(), key, value);
      ChunkView unused = row.view(place.position());
      return row;
    } catch (IOException | DamagedRowException e) {
      return null;
    }
  }

  private static @Nullable ChunkIndex index(StoreLease rows, int journal, long first) {
    try {
      byte[] value = rows.get(Keys.chunkIndex(journal, first));
      return value == null ? null : ChunkIndex.decode(first, value);
    } catch (ChunkFormatException | DamagedRowException e) {
      return null;
    }
  }

  /** Returns the last position of the row of an event: without an index that is not known. */
  private long end(Place place) {
    if (place.keep() == KeepPolicy.LATEST) {
      return place.position();
    }
    try (StoreLease rows = store.lease()) {
      byte[] key = JournalPositions.eventRow(rows, Keys.CHUNK, place.journal(), place.position());
      ChunkIndex index = key == null ? null : index(rows, place.journal(), Keys.number(key));
      return index == null || index.lastPosition() < place.position()
          ? Long.MAX_VALUE
          : index.lastPosition();
    } catch (RuntimeException e) {
      return Long.MAX_VALUE;
    }
  }

  /** Ends what is under way; nothing is repaired any more. */
  @Override
  public void close() {
    executor.shutdownNow();
  }
}
