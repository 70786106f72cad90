package io.eventbus.server.queue;

import org.jspecify.annotations.Nullable;

/**
 * Tasks that wait for a turn of a loop, each for one turn: one task of each client address in turn,
 * those of one address in order. Confined to the loop.
 */
public final class FairTurns {
  private FairQueue queue = new FairQueue();
  private int size;

  /** Appends a task to those of its address. */
  public void add(Object address, Runnable task) {
    queue.add(queue.join(address, task));
    size++;
  }

  /** Removes and returns the task whose turn it is; null for none. */
  public @Nullable Runnable poll() {
    FairQueue.Entry entry = queue.poll();
    if (entry == null) {
      return null;
    }
    queue.leave(entry);
    size--;
    return entry;
  }

  public boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Returns the number of waiting tasks. */
  public int size() {
    return size;
  }

  /** Returns the number of waiting tasks of an address. */
  public int size(Object address) {
    return queue.entries(address);
  }

  /** Discards all tasks. */
  public void clear() {
    queue = new FairQueue();
    size = 0;
  }
}
