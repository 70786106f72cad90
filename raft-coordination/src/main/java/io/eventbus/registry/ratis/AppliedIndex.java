package io.eventbus.registry.ratis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** How far the log is applied here, and who waits for it to get further. Any thread. */
final class AppliedIndex {
  private final TreeMap<Long, List<CompletableFuture<Void>>> waiting = new TreeMap<>();
  private long index = -1;

  void reached(long newIndex) {
    List<CompletableFuture<Void>> done = new ArrayList<>();
    synchronized (this) {
      index = Math.max(index, newIndex);
      while (!waiting.isEmpty() && waiting.firstKey() <= index) {
        done.addAll(waiting.pollFirstEntry().getValue());
      }
    }
    done.forEach(future -> future.complete(null));
  }

  /** Fails with a {@link java.util.concurrent.TimeoutException} after the limit. */
  CompletableFuture<Void> await(long wanted, Duration limit) {
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

  /** How many wait. */
  synchronized int waiting() {
    return waiting.values().stream().mapToInt(List::size).sum();
  }

  synchronized long index() {
    return index;
  }
}
