package io.eventbus.raft;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Index up to which a group's log is applied here, with a future for each further index. Any
 * thread.
 */
public final class AppliedIndex {
  private final TreeMap<Long, List<CompletableFuture<Void>>> waiting = new TreeMap<>();
  private long index = -1;

  /** Sets the index up to which the log is applied. */
  public void reached(long newIndex) {
    List<CompletableFuture<Void>> done = new ArrayList<>();
    synchronized (this) {
      index = Math.max(index, newIndex);
      while (!waiting.isEmpty() && waiting.firstKey() <= index) {
        done.addAll(waiting.pollFirstEntry().getValue());
      }
    }
    done.forEach(future -> future.complete(null));
  }

  /**
   * Returns a future that completes when the log is applied up to there, and fails with a {@link
   * java.util.concurrent.TimeoutException} after the limit.
   */
  public CompletableFuture<Void> await(long wanted, Duration limit) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    synchronized (this) {
      if (index >= wanted) {
        future.complete(null);
        return future;
      }
      waiting.computeIfAbsent(wanted, key -> new ArrayList<>()).add(future);
    }
    future.orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS);
    return future.whenComplete(
        (nothing, error) -> {
          if (error != null) {
            forget(wanted, future);
          }
        });
  }

  private synchronized void forget(long wanted, CompletableFuture<Void> future) {
    List<CompletableFuture<Void>> others = waiting.get(wanted);
    if (others != null && others.removeIf(each -> each == future) && others.isEmpty()) {
      waiting.remove(wanted);
    }
  }

  /** Returns the number of open futures. */
  synchronized int waiting() {
    return waiting.values().stream().mapToInt(List::size).sum();
  }

  /** Returns the index; -1 for nothing. */
  public synchronized long index() {
    return index;
  }
}
