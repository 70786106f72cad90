package io.eventbus.journal.ratis;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.codec.EntryWriter;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.CursorRecord;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.raft.CommandBatcher;
import io.eventbus.raft.GateLimits;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Entry of records into the log of a shard. The records of many callers share an entry; those that
 * want one for themselves get it. Bounded in bytes. Any thread.
 */
final class ShardGate {
  /** Maximum bytes of the records that share an entry; a larger one has an entry of its own. */
  private static final int MAX_SHARED_BYTES = 256 << 10;

  /** Memory of a record beside its bytes, about. */
  private static final int RECORD_OVERHEAD = 256;

  /** Maximum number of records under way that want an entry for themselves. */
  private static final int MAX_ALONE = 64;

  /** Maximum number of callers that wait for a confirmation. */
  private static final int MAX_CONFIRMING = 4_096;

  private static final GateLimits LIMITS =
      new GateLimits(3, 4_096, MAX_SHARED_BYTES, 1_000_000, 1L << 30);

  /** Log of the shard. */
  interface Log {
    /** Appends an entry, which never changes; the future has the results of its records. */
    CompletableFuture<List<RecordResult>> append(byte[] entry);
  }

  /** Record as an entry with no others, from the first byte of a buffer on. */
  private record Encoded(ByteBuffer entry) {
    int recordBytes() {
      return entry.limit() - EntryWriter.HEAD_BYTES;
    }
  }

  private final Log log;
  private final ShardClock clock;
  private final CommandBatcher<Encoded, RecordResult> batcher;
  private final AnswerDeadlines deadlines;
  private final ThreadLocal<EntryReader> readers = ThreadLocal.withInitial(EntryReader::new);
  private final AtomicLong pendingBytes = new AtomicLong();
  private final AtomicLong alone = new AtomicLong();
  private final AtomicLong confirming = new AtomicLong();
  private final long maxPendingBytes;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean closed;

  /**
   * Creates a gate.
   *
   * @param timer for times below 2 ms
   * @param nanoTime the time of that timer
   */
  ShardGate(
      Log log,
      ShardClock clock,
      CommandBatcher.Timer timer,
      LongSupplier nanoTime,
      long maxPendingBytes,
      AnswerDeadlines deadlines) {
    this.log = log;
    this.clock = clock;
    this.maxPendingBytes = maxPendingBytes;
    this.deadlines = deadlines;
    batcher = new CommandBatcher<>(this::propose, new Owner(), LIMITS, timer, nanoTime);
  }

  /** Owner that never finds the queue full: the bytes are counted before. */
  private static final class Owner implements CommandBatcher.Owner {
    @Override
    public RuntimeException overloaded(String message) {
      return new JournalsUnavailableException("journal: " + message);
    }

    @Override
    public void committed(long tookNanos) {}
  }

  private CompletableFuture<List<RecordResult>> propose(List<Encoded> asked) {
    // An entry that confirms what is before it has a record that changes nothing.
    List<Encoded> records = asked.isEmpty() ? List.of(encode(new Tick())) : asked;
    int size = EntryWriter.HEAD_BYTES;
    for (Encoded record : records) {
      size += record.recordBytes();
    }
    ByteBuffer entry = ByteBuffer.allocate(size);
    EntryWriter.begin(entry);
    EntryWriter.setStamp(entry, 0, clock.stamp());
    for (Encoded record : records) {
      int bytes = record.recordBytes();
      entry.put(entry.position(), record.entry(), EntryWriter.HEAD_BYTES, bytes);
      entry.position(entry.position() + bytes);
    }
    return log.append(entry.array());
  }

  /** Does what {@link io.eventbus.journal.Journals#append} says. */
  boolean append(PublishHead head, ByteBuffer events, AppendListener listener) {
    long bytes = EntryWriter.maxSize(head) + events.remaining() + (long) RECORD_OVERHEAD;
    if (bytes > Entry.MAX_BYTES) {
      throw new IllegalArgumentException(
          "events of a publication: "
              + events.remaining()
              + " bytes (expected: less than "
              + Entry.MAX_BYTES
              + ")");
    }
    if (!tryReserve(bytes, maxPendingBytes)) {
      return false;
    }
    Encoded record;
    try {
      record = encode(head, events);
    } catch (RuntimeException e) {
      release(bytes);
      throw e;
    }
    AnswerDeadlines.Answer answer =
        deadlines.begin(
            (result, error) -> {
              if (result != null) {
                listener.completed(result);
              } else {
                listener.unavailable(unavailable(error));
              }
            });
    var unused =
        batcher
            .submit(record, record.recordBytes())
            .whenComplete(
                (result, error) -> {
                  release(bytes);
                  answer.complete(result, error);
                });
    return true;
  }

  /** Encodes a publication as one record, so that all of its events are stored, or none. */
  private Encoded encode(PublishHead head, ByteBuffer events) {
    ByteBuffer out =
        ByteBuffer.allocate(
            EntryWriter.HEAD_BYTES + EntryWriter.maxSize(head) + events.remaining());
    EntryWriter.begin(out);
    EntryWriter.writeHead(out, head);
    out.put(events.duplicate());
    return checked(out.flip());
  }

  /**
   * Checks the bytes of an entry as those will be checked that are applied: one that cannot be read
   * would end the shard, now and after each start.
   */
  private Encoded checked(ByteBuffer entry) {
    try {
      Entry unused = readers.get().read(entry);
      return new Encoded(entry);
    } catch (EntryFormatException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private Encoded encode(ShardRecord record) {
    ByteBuffer out = ByteBuffer.allocate(EntryWriter.HEAD_BYTES + EntryWriter.maxSize(record));
    EntryWriter.begin(out);
    EntryWriter.write(out, record);
    return checked(out.flip());
  }

  /**
   * Submits a record that is no publication. The stage fails with {@link
   * JournalsUnavailableException} if the outcome is not known in time, or too many are under way.
   *
   * @throws IllegalArgumentException if the record cannot be written, saying why
   */
  CompletionStage<RecordResult> submit(ShardRecord record) {
    Encoded encoded = encode(record);
    CompletableFuture<RecordResult> result = new CompletableFuture<>();
    boolean shared = record instanceof CursorRecord && !(record instanceof Redrive);
    long bytes = encoded.recordBytes() + (long) RECORD_OVERHEAD;
    // These do not wait behind publishers.
    if (!tryReserve(bytes, 2 * maxPendingBytes)) {
      return CompletableFuture.failedFuture(noRoom());
    }
    if (!shared && alone.incrementAndGet() > MAX_ALONE) {
      alone.decrementAndGet();
      release(bytes);
      return CompletableFuture.failedFuture(noRoom());
    }
    AnswerDeadlines.Answer answer =
        deadlines.begin(
            (done, error) -> {
              if (done != null) {
                result.complete(done);
              } else {
                result.completeExceptionally(unavailable(error));
              }
            });
    CompletableFuture<RecordResult> submitted =
        shared ? batcher.submit(encoded, encoded.recordBytes()) : proposeAlone(encoded);
    var unused =
        submitted.whenComplete(
            (done, error) -> {
              if (!shared) {
                alone.decrementAndGet();
              }
              release(bytes);
              answer.complete(done, error);
            });
    return result;
  }

  private CompletableFuture<RecordResult> proposeAlone(Encoded record) {
    try {
      return propose(List.of(record)).thenApply(results -> results.get(0));
    } catch (RejectedExecutionException e) {
      // The shard ends.
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Completes when all that was committed anywhere before the call is applied here: by an entry of
   * the log, which all that wait share. A leader that was replaced would answer any other question
   * as if it were none. Fails as the log does.
   */
  CompletableFuture<Void> confirm() {
    if (confirming.incrementAndGet() > MAX_CONFIRMING) {
      confirming.decrementAndGet();
      return CompletableFuture.failedFuture(noRoom());
    }
    return batcher.confirm().whenComplete((nothing, error) -> confirming.decrementAndGet());
  }

  private static JournalsUnavailableException noRoom() {
    return JournalsUnavailableException.unsent(
        "journal: too much is under way (expected: another try later)");
  }

  static JournalsUnavailableException unavailable(@Nullable Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    if (cause instanceof JournalsUnavailableException known) {
      return known;
    }
    return new JournalsUnavailableException(
        "journal: not committed as far as is known: " + cause, cause);
  }

  private boolean tryReserve(long bytes, long max) {
    long before = pendingBytes.get();
    while (before == 0 || before + bytes <= max) {
      if (pendingBytes.compareAndSet(before, before + bytes)) {
        return true;
      }
      before = pendingBytes.get();
    }
    return false;
  }

  private void release(long bytes) {
    long left = pendingBytes.addAndGet(-bytes);
    // Not for each record: many tasks may wait, and each has one record at least.
    if (hasRoom(left)) {
      runWaiting();
    }
  }

  private boolean hasRoom(long pending) {
    return pending <= maxPendingBytes - maxPendingBytes / 4;
  }

  /** Does what {@link io.eventbus.journal.Journals#whenRoom} says. */
  void whenRoom(Runnable task) {
    synchronized (waiting) {
      waiting.add(task);
    }
    if (isClosed() || hasRoom(pendingBytes.get())) {
      runWaiting();
    }
  }

  private void runWaiting() {
    List<Runnable> tasks;
    synchronized (waiting) {
      if (waiting.isEmpty()) {
        return;
      }
      tasks = List.copyOf(waiting);
      waiting.clear();
    }
    tasks.forEach(Runnable::run);
  }

  private boolean isClosed() {
    synchronized (waiting) {
      return closed;
    }
  }

  long pendingBytes() {
    return pendingBytes.get();
  }

  /** Tells everybody that waits for an answer or for room that this has ended. */
  void close(JournalsUnavailableException cause) {
    synchronized (waiting) {
      closed = true;
    }
    deadlines.close(cause);
    runWaiting();
  }
}
