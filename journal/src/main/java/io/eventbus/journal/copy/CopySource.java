package io.eventbus.journal.copy;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.read.JournalPositions;
import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.rows.StoreFailedException;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkService;
import io.eventbus.link.LinkServiceException;
import io.eventbus.protocol.MalformedFrameException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Source of copies at a replica, one at a time, and of single rows with events. A copy is a lease
 * of the store; it ends when its receiver says so, or asks for nothing in a while. Slices are sent
 * at a limited rate, so that publishers notice little of them.
 *
 * <p>State is confined to a thread of its own; {@link #answer} is for any thread.
 */
public final class CopySource implements LinkService, AutoCloseable {
  /** Code of a source that sends another copy, or cannot begin one at present. */
  public static final String BUSY = "BUSY";

  /** Code of a source that has not caught up itself. */
  public static final String NOT_READY = "NOT_READY";

  /** Code of a source with a row that it cannot read. */
  public static final String DAMAGED = "DAMAGED";

  /** Code for a copy that has ended. */
  public static final String ENDED = "ENDED";

  /** Time after which a copy ends whose receiver asks for nothing. */
  static final Duration IDLE = Duration.ofSeconds(60);

  private static final Logger LOG = LoggerFactory.getLogger(CopySource.class);
  private static final int MAX_QUESTIONS = 64;
  private static final long CLOSE_SECONDS = 30;

  /** Replica whose rows are copied. Any thread. */
  public interface Replica {
    /** Returns its state. */
    ReplicaState state();

    /** Returns a stage that completes when it has applied what was committed before this call. */
    CompletionStage<Void> appliedUpToNow();

    /** Begins a lease of its store. */
    StoreLease lease();

    /** Returns about how many bytes its rows have. */
    long bytes();

    /**
     * Returns the last members that it has applied, as Raft stores them.
     *
     * @throws IOException if they cannot be read
     */
    Configuration configuration() throws IOException;

    /** Keeps all of the log that there is for a while, for a member that gets a copy. */
    void keepLog(String member);
  }

  /**
   * Members of a group.
   *
   * @param index index of the entry that has stated them
   * @param bytes that entry
   */
  public record Configuration(long index, ByteBuffer bytes) {}

  private static final class Copy {
    private final long number = ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
    private final String member;
    private final StoreLease lease;
    private final RowScan scan;
    private final CopiedRow check = new CopiedRow();
    private boolean more;
    private int next;
    private long rows;
    private long bytes;
    private byte[] last = new byte[0];
    private long askedNanos;

    Copy(String member, StoreLease lease, long nowNanos) {
      this.member = member;
      this.lease = lease;
      scan = lease.scanAll();
      more = scan.next();
      askedNanos = nowNanos;
    }
  }

  private final UUID group;
  private final String self;
  private final Replica replica;
  private final long bytesPerSecond;
  private final LongSupplier nanoTime;
  private final ScheduledThreadPoolExecutor executor;
  private final AtomicInteger questions = new AtomicInteger();
  private @Nullable Copy current;
  private long paidNanos;

  /**
   * Creates a source.
   *
   * @param self the member whose rows are copied
   * @param thread makes its thread
   */
  public CopySource(
      UUID group,
      String self,
      Replica replica,
      long bytesPerSecond,
      LongSupplier nanoTime,
      ThreadFactory thread) {
    this.group = group;
    this.self = self;
    this.replica = replica;
    this.bytesPerSecond = bytesPerSecond;
    this.nanoTime = nanoTime;
    executor = new ScheduledThreadPoolExecutor(1, thread);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    paidNanos = nanoTime.getAsLong();
    var unused =
        executor.scheduleWithFixedDelay(
            this::endIdle, IDLE.toMillis(), IDLE.toMillis() / 4, TimeUnit.MILLISECONDS);
  }

  @Override
  public CompletionStage<byte[]> answer(LinkPeer peer, byte[] bytes) {
    CopyRequest request = CopyRequest.decode(bytes);
    if (!request.group().equals(group)) {
      throw refused(NOT_READY, "group: " + request.group() + " (expected: " + group + ")");
    }
    if (!request.member().startsWith(peer.bus() + "~")) {
      throw refused(
          LinkServiceException.MALFORMED,
          "member: " + request.member() + " (expected: one of bus " + peer.bus() + ")");
    }
    if (questions.incrementAndGet() > MAX_QUESTIONS) {
      questions.decrementAndGet();
      throw refused(BUSY, "questions: " + MAX_QUESTIONS + " are waiting (expected: fewer)");
    }
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    var unused = answer.whenComplete((done, error) -> questions.decrementAndGet());
    run(answer, () -> take(request, answer));
    return answer;
  }

  private static LinkServiceException refused(String code, String message) {
    return new LinkServiceException(code, message);
  }

  private interface Task {
    void run() throws IOException;
  }

  /** Runs a part of an answer, which fails as the part does. */
  private void run(CompletableFuture<byte[]> answer, Task task) {
    try {
      executor.execute(
          () -> {
            try {
              task.run();
            } catch (IOException | RuntimeException e) {
              answer.completeExceptionally(e);
            }
          });
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(refused(NOT_READY, "closed (expected: open)"));
    }
  }

  private void take(CopyRequest request, CompletableFuture<byte[]> answer) {
    switch (request.kind()) {
      case STATE -> {
        if (request.number() > 0) {
          replica.keepLog(request.member());
        }
        answer.complete(replica.state().encode());
      }
      case OPEN -> begin(request, answer);
      case NEXT -> next(request, answer);
      case CLOSE -> {
        Copy copy = current;
        if (copy != null && copy.number == request.number()) {
          end(copy, "its receiver ended it");
        }
        answer.complete(new byte[0]);
      }
      case CHUNK -> sendEvents(request, Keys.CHUNK, answer);
      case LATEST -> sendEvents(request, Keys.LATEST, answer);
    }
  }

  /** Answers with the row that has an event; whoever asks cannot read its own. */
  private void sendEvents(CopyRequest request, byte kind, CompletableFuture<byte[]> answer) {
    int journal = request.slice();
    long position = request.number();
    try (StoreLease rows = replica.lease()) {
      JournalCounters counters = JournalPositions.counters(rows, journal);
      boolean here =
          counters != null
              && position >= counters.firstPosition()
              && position <= counters.lastPosition();
      byte[] key = here ? JournalPositions.eventRow(rows, kind, journal, position) : null;
      if (key == null) {
        throw refused(
            NOT_READY,
            "journal " + journal + ": position " + position + " is not here (expected: here)");
      }
      byte[] value = rows.get(key);
      if (value == null) {
        throw new IOException("journal " + journal + ": no row at position " + position);
      }
      EventRow row = new EventRow(rows.applied().index(), key, value);
      ChunkView unused = row.view(position);
      pay(row.encode(), answer);
    } catch (IOException | DamagedRowException | MalformedFrameException e) {
      throw damaged(e);
    }
  }

  private void begin(CopyRequest request, CompletableFuture<byte[]> answer) {
    refuseIfBusy(request);
    if (!replica.state().ready()) {
      throw refused(NOT_READY, self + ": has not caught up (expected: that it has)");
    }
    // No log has been cut behind that: before, each was asked to be kept.
    var unused =
        replica
            .appliedUpToNow()
            .whenComplete(
                (nothing, error) -> {
                  if (error == null) {
                    run(answer, () -> begun(request, answer));
                  } else {
                    answer.completeExceptionally(refused(NOT_READY, self + ": " + error));
                  }
                });
  }

  private void refuseIfBusy(CopyRequest request) {
    endIdle();
    Copy copy = current;
    if (copy != null && !copy.member.equals(request.member())) {
      throw refused(BUSY, self + ": sends a copy to " + copy.member + " (expected: none)");
    }
  }

  private void begun(CopyRequest request, CompletableFuture<byte[]> answer) throws IOException {
    refuseIfBusy(request);
    Copy before = current;
    if (before != null) {
      end(before, "its receiver begins anew");
    }
    StoreLease lease = replica.lease();
    boolean kept = false;
    try {
      AppliedEntry applied = lease.applied();
      Configuration members = replica.configuration();
      if (applied.index() < request.number() || members.index() > applied.index()) {
        throw refused(
            BUSY,
            self
                + (": entries up to " + applied.index() + " applied, members of entry ")
                + members.index()
                + (" (expected: up to " + request.number() + " at least, and no later members)"));
      }
      Copy copy = new Copy(request.member(), lease, nanoTime.getAsLong());
      kept = true;
      current = copy;
      LOG.info(
          "{}: {} gets a copy of the rows, up to entry {}", self, copy.member, applied.index());
      answer.complete(
          new CopyHead(copy.number, applied, replica.bytes(), members.bytes()).encode());
    } catch (DamagedRowException e) {
      throw damaged(e);
    } finally {
      if (!kept) {
        lease.close();
      }
    }
  }

  private void next(CopyRequest request, CompletableFuture<byte[]> answer) {
    Copy copy = current;
    if (copy == null || copy.number != request.number()) {
      throw refused(ENDED, "copy: " + request.number() + " has ended (expected: one that is sent)");
    }
    copy.askedNanos = nanoTime.getAsLong();
    if (request.slice() == copy.next - 1) {
      answer.complete(copy.last);
      return;
    }
    if (request.slice() != copy.next) {
      throw refused(
          LinkServiceException.MALFORMED,
          "slice: " + request.slice() + " (expected: " + copy.next + ", or the one before)");
    }
    try {
      copy.last = read(copy);
    } catch (ChunkFormatException | DamagedRowException e) {
      end(copy, "a row is damaged");
      throw damaged(e);
    } catch (StoreFailedException e) {
      end(copy, "the store has failed");
      throw e;
    }
    copy.next++;
    copy.bytes += copy.last.length;
    pay(copy.last, answer);
  }

  private static LinkServiceException damaged(Exception e) {
    LOG.warn("a row cannot be copied: {}", e.getMessage());
    return refused(DAMAGED, String.valueOf(e.getMessage()));
  }

  private static byte[] read(Copy copy) throws ChunkFormatException {
    Slice slice = new Slice();
    while (copy.more) {
      byte[] key = copy.scan.key();
      byte[] value = copy.scan.value();
      if (!slice.add(key, value)) {
        break;
      }
      copy.check.check(key, value);
      copy.rows++;
      copy.more = copy.scan.next();
    }
    return slice.encode(copy.number, copy.next, copy.rows, !copy.more);
  }

  /** Answers once the rate allows it. */
  private void pay(byte[] slice, CompletableFuture<byte[]> answer) {
    long now = nanoTime.getAsLong();
    long cost = slice.length * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
    paidNanos = Math.max(paidNanos - now, 0) + now + cost;
    try {
      var unused =
          executor.schedule(() -> answer.complete(slice), paidNanos - now, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(refused(NOT_READY, "closed (expected: open)"));
    }
  }

  private void endIdle() {
    Copy copy = current;
    if (copy != null && nanoTime.getAsLong() - copy.askedNanos > IDLE.toNanos()) {
      end(copy, "nothing was asked for in " + IDLE);
    }
  }

  private void end(Copy copy, String why) {
    current = null;
    copy.lease.close();
    LOG.info(
        "{}: the copy for {} has ended after {} rows and {} bytes: {}",
        self,
        copy.member,
        copy.rows,
        copy.bytes,
        why);
  }

  /** Ends the copy that is sent, and answers nothing more. Waits for what is being read. */
  @Override
  public void close() {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    try {
      executor.execute(
          () -> {
            Copy copy = current;
            if (copy != null) {
              end(copy, "this replica is closed");
            }
            ended.complete(null);
          });
      ended.get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException | RejectedExecutionException e) {
      LOG.error("{}: a copy does not end", self, e);
    }
    executor.shutdownNow();
  }
}
