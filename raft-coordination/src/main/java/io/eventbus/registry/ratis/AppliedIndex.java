package io.eventbus.registry.ratis;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

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

  synchronized CompletableFuture<Void> await(long wanted) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    if (index >= wanted) {
      future.complete(null);
      return future;
    }
    waiting.computeIfAbsent(wanted, key -> new ArrayList<>()).add(future);
    return future;
  }

  synchronized long index() {
    return index;
  }
}
