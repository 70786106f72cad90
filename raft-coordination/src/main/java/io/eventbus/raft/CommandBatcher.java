package io.eventbus.raft;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Entry of commands into a group at its leader.
 *
 * <p>A command is proposed at once while no log entry is under way; otherwise it waits, bounded,
 * and the next entry takes all that wait: as soon as it is full, or when the one before is finished
 * and the callers that were answered have come back ({@link GroupCommitDelay}). So one command
 * costs no waiting, many commands share the cost of an entry, and no load makes Ratis hold more
 * than a few entries: its heartbeats never queue behind commands. Any thread may call any method.
 */
public final class CommandBatcher<C, R> {
  /** Proposer of a log entry with some commands. */
  public interface Proposer<C, R> {
    /** Proposes an entry; the future has one result for each command. */
    CompletableFuture<List<R>> propose(List<C> batch);
  }

  /** Owner of the batcher; called on the threads that submit and that complete. */
  public interface Owner {
    /** Returns the error for a caller that finds the queue full. */
    RuntimeException overloaded(String message);

    /** Called when an entry was committed and applied. */
    void committed(long tookNanos);
  }

  /**
   * Timer that runs a task once after a delay; when it ends, it runs the tasks that it has or
   * throws {@link RejectedExecutionException}.
   */
  public interface Timer {
    /** Runs the task after that many nanoseconds. */
    void after(long nanos, Runnable task);
  }

  private record Waiting<C, R>(C command, int bytes, CompletableFuture<R> answer) {}

  /**
   * Content of one log entry.
   *
   * @param commands may be none
   * @param readers callers that only want to know that this bus led after they had asked
   */
  private record Batch<C, R>(List<Waiting<C, R>> commands, List<CompletableFuture<Void>> readers) {}

  private final Proposer<C, R> proposer;
  private final Owner owner;
  private final GateLimits limits;
  private final ArrayDeque<Waiting<C, R>> queue = new ArrayDeque<>();
  private List<CompletableFuture<Void>> readers = new ArrayList<>();
  private final GroupCommitDelay delay = new GroupCommitDelay();
  private final Timer timer;
  private final LongSupplier nanoTime;
  private final AtomicInteger pumping = new AtomicInteger();
  private long queuedBytes;
  private int entriesUnderWay;
  private boolean timed;

  /**
   * Creates a batcher.
   *
   * @param proposer takes the entries
   * @param nanoTime the time of that timer
   */
  public CommandBatcher(
      Proposer<C, R> proposer, Owner owner, GateLimits limits, Timer timer, LongSupplier nanoTime) {
    this.proposer = proposer;
    this.owner = owner;
    this.limits = limits;
    this.timer = timer;
    this.nanoTime = nanoTime;
  }

  /**
   * Submits a command. The future fails as the owner says if too many wait, else as the proposer's
   * does.
   *
   * @param bytes approximate memory that the command takes
   */
  public CompletableFuture<R> submit(C command, int bytes) {
    Waiting<C, R> waiting = new Waiting<>(command, bytes, new CompletableFuture<>());
    synchronized (this) {
      if (queue.size() >= limits.maxQueuedCommands()
          || waiting.bytes() > limits.maxQueuedBytes() - queuedBytes) {
        return CompletableFuture.failedFuture(
            owner.overloaded(
                "queued: "
                    + queue.size()
                    + " commands, "
                    + queuedBytes
                    + " bytes (expected: at most "
                    + limits.maxQueuedCommands()
                    + " commands, "
                    + limits.maxQueuedBytes()
                    + " bytes)"));
      }
      queue.add(waiting);
      queuedBytes += waiting.bytes();
      delay.arrived();
    }
    pump();
    return waiting.answer();
  }

  /**
   * Confirms that this bus leads, by a log entry that is made after this call: all that wait share
   * one entry, together with the commands that wait.
   *
   * <p>Ratis's own read would do without an entry. But it accepts a majority's answer as valid as
   * long as nothing else is committed, so that a leader that was stopped and has been replaced
   * meanwhile answers with old state.
   *
   * @return a future that completes when everything that was committed before is applied here; it
   *     fails as that of {@link #submit} does
   */
  public CompletableFuture<Void> confirm() {
    CompletableFuture<Void> reader = new CompletableFuture<>();
    synchronized (this) {
      if (readers.size() >= limits.maxQueuedCommands()) {
        return CompletableFuture.failedFuture(
            owner.overloaded(
                "queued: "
                    + readers.size()
                    + " reads (expected: at most "
                    + limits.maxQueuedCommands()
                    + ")"));
      }
      readers.add(reader);
      delay.arrived();
    }
    pump();
    return reader;
  }

  synchronized int queued() {
    return queue.size();
  }

  private void pump() {
    if (pumping.getAndIncrement() != 0) {
      // The thread that pumps goes on: entries are proposed in the order of their commands.
      return;
    }
    try {
      int seen = 1;
      while (seen != 0) {
        for (Batch<C, R> batch = next(); batch != null; batch = next()) {
          propose(batch);
        }
        seen = pumping.addAndGet(-seen);
      }
    } catch (RuntimeException | Error e) {
      pumping.set(0);
      throw e;
    }
  }

  private synchronized @Nullable Batch<C, R> next() {
    if ((queue.isEmpty() && readers.isEmpty()) || entriesUnderWay >= limits.maxEntriesUnderWay()) {
      return null;
    }
    if (!isFull() && (entriesUnderWay > 0 || isDelayed())) {
      return null;
    }
    delay.gone(nanoTime.getAsLong());
    List<Waiting<C, R>> batch = new ArrayList<>();
    long bytes = 0;
    for (Waiting<C, R> first = queue.peek();
        first != null
            && batch.size() < limits.maxBatchCommands()
            && (batch.isEmpty() || bytes + first.bytes() <= limits.maxBatchBytes());
        first = queue.peek()) {
      queue.remove();
      queuedBytes -= first.bytes();
      bytes += first.bytes();
      batch.add(first);
    }
    entriesUnderWay++;
    List<CompletableFuture<Void>> asking = readers;
    readers = new ArrayList<>();
    return new Batch<>(batch, asking);
  }

  private boolean isFull() {
    return queue.size() >= limits.maxBatchCommands() || queuedBytes >= limits.maxBatchBytes();
  }

  private boolean isDelayed() {
    long left = delay.remainingNanos(nanoTime.getAsLong());
    if (left > 0 && !timed) {
      try {
        timer.after(left, this::timeIsUp);
        timed = true;
      } catch (RejectedExecutionException e) {
        // This bus ends, and the proposer is to say so.
        return false;
      }
    }
    return left > 0;
  }

  private void timeIsUp() {
    synchronized (this) {
      timed = false;
    }
    pump();
  }

  private void propose(Batch<C, R> batch) {
    List<C> commands = batch.commands().stream().map(Waiting::command).toList();
    CompletableFuture<List<R>> results;
    try {
      results = proposer.propose(commands);
    } catch (RuntimeException e) {
      results = CompletableFuture.failedFuture(e);
    }
    long startNanos = nanoTime.getAsLong();
    var unused =
        results.whenComplete(
            (done, error) -> {
              long took = nanoTime.getAsLong() - startNanos;
              if (error == null) {
                owner.committed(took);
              }
              finish(batch, took, done, error);
            });
  }

  private void finish(
      Batch<C, R> batch, long tookNanos, @Nullable List<R> results, @Nullable Throwable error) {
    synchronized (this) {
      entriesUnderWay--;
      if (error == null) {
        delay.finished(
            batch.commands().size() + batch.readers().size(), tookNanos, nanoTime.getAsLong());
      } else {
        delay.failed();
      }
    }
    // Waiting commands are proposed before the callers that are answered run, unless they wait for
    // these.
    pump();
    List<Waiting<C, R>> commands = batch.commands();
    for (int i = 0; i < commands.size(); i++) {
      if (results != null) {
        commands.get(i).answer().complete(results.get(i));
      } else {
        commands.get(i).answer().completeExceptionally(error);
      }
    }
    for (CompletableFuture<Void> reader : batch.readers()) {
      if (results != null) {
        reader.complete(null);
      } else {
        reader.completeExceptionally(error);
      }
    }
  }
}
