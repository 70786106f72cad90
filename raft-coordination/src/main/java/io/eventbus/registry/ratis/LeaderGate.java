package io.eventbus.registry.ratis;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.state.TimedCommand;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The way into the engine at the leader.
 *
 * <p>A command goes in at once while no log entry is under way; otherwise it waits, bounded, and
 * the next entry takes all that wait: as soon as it is full, or when the one before is finished and
 * those who were answered have come back ({@link Gathering}). So one command costs no waiting, many
 * commands share the cost of an entry, and no load makes the engine hold more than a few entries:
 * its heartbeats never queue behind commands. Any thread may call any method.
 */
final class LeaderGate {
  /** Hands a batch to the engine; the future has one result for each command. */
  interface Engine {
    CompletableFuture<List<CommandResult>> propose(List<TimedCommand> batch);
  }

  /**
   * Runs something once after a while; where it ends, it runs what it has or throws {@link
   * RejectedExecutionException}.
   */
  interface Timer {
    void after(long nanos, Runnable task);
  }

  private record Waiting(
      CommandId id, RegistryCommand command, int bytes, CompletableFuture<CommandResult> answer) {}

  /**
   * What goes into one log entry.
   *
   * @param commands may be none
   * @param readers who only want to know that this bus led after they had asked
   */
  private record Batch(List<Waiting> commands, List<CompletableFuture<Void>> readers) {}

  private final Engine engine;
  private final RegistryClock clock;
  private final GateLimits limits;
  private final CommitLatencies latencies = new CommitLatencies();
  private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
  private List<CompletableFuture<Void>> readers = new ArrayList<>();
  private final Gathering gathering = new Gathering();
  private final Timer timer;
  private final LongSupplier nanoTime;
  private long queuedBytes;
  private int entriesUnderWay;
  private boolean timed;

  /**
   * A gate.
   *
   * @param engine where the entries go
   * @param clock stamps them
   * @param limits how much waits and is under way
   * @param timer runs what is due a little later
   * @param nanoTime the time of that timer
   */
  LeaderGate(
      Engine engine, RegistryClock clock, GateLimits limits, Timer timer, LongSupplier nanoTime) {
    this.engine = engine;
    this.clock = clock;
    this.limits = limits;
    this.timer = timer;
    this.nanoTime = nanoTime;
  }

  /**
   * Takes a command in. The future fails with a {@link RegistryOverloadedException} if too many
   * wait, else with what the engine says.
   */
  CompletableFuture<CommandResult> submit(CommandId id, RegistryCommand command) {
    Waiting waiting = new Waiting(id, command, command.estimatedBytes(), new CompletableFuture<>());
    synchronized (this) {
      if (queue.size() >= limits.maxQueuedCommands()
          || waiting.bytes() > limits.maxQueuedBytes() - queuedBytes) {
        return CompletableFuture.failedFuture(
            new RegistryOverloadedException(
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
      gathering.arrived();
    }
    pump();
    return waiting.answer();
  }

  /**
   * Makes sure that this bus leads, by a log entry that is made after this call: all that wait go
   * with one entry, together with the commands that wait.
   *
   * <p>The engine's own read would do without an entry. But it takes a majority's answer for valid
   * as long as nothing else is committed, so that a leader that was stopped and has been replaced
   * meanwhile answers with what it had.
   *
   * @return a future that completes when everything that was committed before is applied here; it
   *     fails as that of {@link #submit} does
   */
  CompletableFuture<Void> confirm() {
    CompletableFuture<Void> reader = new CompletableFuture<>();
    synchronized (this) {
      if (readers.size() >= limits.maxQueuedCommands()) {
        return CompletableFuture.failedFuture(
            new RegistryOverloadedException(
                "queued: "
                    + readers.size()
                    + " reads (expected: at most "
                    + limits.maxQueuedCommands()
                    + ")"));
      }
      readers.add(reader);
      gathering.arrived();
    }
    pump();
    return reader;
  }

  CommitLatencies latencies() {
    return latencies;
  }

  synchronized int queued() {
    return queue.size();
  }

  private void pump() {
    for (Batch batch = next(); batch != null; batch = next()) {
      propose(batch);
    }
  }

  private synchronized @Nullable Batch next() {
    if ((queue.isEmpty() && readers.isEmpty()) || entriesUnderWay >= limits.maxEntriesUnderWay()) {
      return null;
    }
    if (!isFull() && (entriesUnderWay > 0 || isGathering())) {
      return null;
    }
    gathering.gone(nanoTime.getAsLong());
    List<Waiting> batch = new ArrayList<>();
    long bytes = 0;
    for (Waiting first = queue.peek();
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
    return new Batch(batch, asking);
  }

  private boolean isFull() {
    return queue.size() >= limits.maxBatchCommands() || queuedBytes >= limits.maxBatchBytes();
  }

  private boolean isGathering() {
    long left = gathering.remainingNanos(nanoTime.getAsLong());
    if (left > 0 && !timed) {
      try {
        timer.after(left, this::timeIsUp);
        timed = true;
      } catch (RejectedExecutionException e) {
        // This bus ends, and the engine is to say so.
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

  private void propose(Batch batch) {
    long timeMillis = clock.stamp();
    List<TimedCommand> commands = new ArrayList<>(batch.commands().size());
    for (Waiting waiting : batch.commands()) {
      commands.add(new TimedCommand(waiting.id(), timeMillis, waiting.command()));
    }
    CompletableFuture<List<CommandResult>> results;
    try {
      results = engine.propose(commands);
    } catch (RuntimeException e) {
      results = CompletableFuture.failedFuture(e);
    }
    long startNanos = nanoTime.getAsLong();
    var unused =
        results.whenComplete(
            (done, error) -> {
              long took = nanoTime.getAsLong() - startNanos;
              if (error == null) {
                latencies.record(took);
              }
              finish(batch, took, done, error);
            });
  }

  private void finish(
      Batch batch,
      long tookNanos,
      @Nullable List<CommandResult> results,
      @Nullable Throwable error) {
    synchronized (this) {
      entriesUnderWay--;
      if (error == null) {
        gathering.finished(
            batch.commands().size() + batch.readers().size(), tookNanos, nanoTime.getAsLong());
      } else {
        gathering.failed();
      }
    }
    // What waits goes in before those who are answered get to run, unless it waits for them.
    pump();
    List<Waiting> commands = batch.commands();
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
