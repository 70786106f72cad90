package io.eventbus.server.delivery;

import io.eventbus.server.memory.WakeupList;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queue of work from one loop to another, or to itself for later: collected during a read cycle,
 * then handed over as one task, in order.
 *
 * <p>The source loop adds and flushes; the destination loop processes the batch. Beyond a limit of
 * what waits in between, {@link #isFull} tells the source to wait. Batches and their items are
 * reused, so that nothing is allocated in steady state.
 *
 * @param <T> mutable item, filled in again for each piece of work
 */
public abstract class HandOverQueue<T> {
  /** Maximum work of one task at the destination, so that other tasks come in between. */
  static final int TASK_WORK = 512;

  private static final Logger LOG = LoggerFactory.getLogger(HandOverQueue.class);

  /** Items of one read cycle, in order. */
  private final class Batch implements Runnable {
    // Those behind size are kept for reuse.
    private Object[] items = new Object[16];
    private int size;
    private int work;
    private long load;

    T add() {
      if (size == items.length) {
        items = Arrays.copyOf(items, size * 2);
      }
      if (items[size] == null) {
        items[size] = create();
      }
      return item(size++);
    }

    @SuppressWarnings("unchecked") // Only add() puts items in.
    private T item(int index) {
      return (T) items[index];
    }

    @Override
    public void run() {
      int next = 0;
      OutOfMemoryError endOfHeap = null;
      try {
        while (next < size) {
          try {
            handle(item(next++));
          } catch (OutOfMemoryError e) {
            endOfHeap = e;
          }
        }
      } finally {
        // After an error here the rest is lost, but the queue goes on.
        discardFrom(next);
      }
      if (endOfHeap != null) {
        throw endOfHeap;
      }
    }

    private void handle(T item) {
      try {
        try {
          process(item);
        } finally {
          clear(item);
        }
      } catch (RuntimeException | Error e) {
        if (e instanceof OutOfMemoryError endOfHeap) {
          throw endOfHeap;
        }
        // Other items are not affected.
        LOG.error("work of another loop failed", e);
      }
    }

    private void discardFrom(int first) {
      if (first == size) {
        done();
        return;
      }
      try {
        clear(item(first));
      } finally {
        discardFrom(first + 1);
      }
    }

    private void done() {
      long freed = load;
      size = 0;
      work = 0;
      load = 0;
      spare.set(this);
      if (waiting.addAndGet(-freed) < limit / 2 && !waiters.isEmpty()) {
        waiters.wake();
      }
    }
  }

  private final Executor destination;
  private final long limit;
  private final AtomicReference<@Nullable Batch> spare = new AtomicReference<>();
  // Load that was flushed and not processed.
  private final AtomicLong waiting = new AtomicLong();
  private final WakeupList waiters = new WakeupList();
  private @Nullable Batch open;

  /**
   * Creates an empty queue.
   *
   * @param limit load beyond which the queue is full, in the unit of {@link #append}
   */
  protected HandOverQueue(Executor destination, long limit) {
    this.destination = destination;
    this.limit = limit;
  }

  /** Creates an empty item. */
  protected abstract T create();

  /** Processes an item on the destination loop. An exception does not affect other items. */
  protected abstract void process(T item);

  /**
   * Empties an item for reuse and releases what it holds. Called exactly once for each item that
   * was added, after {@link #process} or in place of it.
   */
  protected abstract void clear(T item);

  /**
   * Adds an item, to be filled in before anything else is done; source loop only.
   *
   * @param work estimated work of the item; a task has 512 at most, or one item
   * @param load what the item counts for in the limit
   */
  protected final T append(int work, long load) {
    Batch batch = open;
    if (batch == null) {
      batch = spare.getAndSet(null);
      if (batch == null) {
        batch = new Batch();
      }
      open = batch;
    }
    batch.work += work;
    batch.load += load;
    return batch.add();
  }

  /** Hands over what was added if it is the work of one task; source loop only. */
  protected final void flushIfLarge() {
    Batch batch = open;
    if (batch != null && batch.work >= TASK_WORK) {
      flush();
    }
  }

  /** Returns whether nothing was added since the last flush; source loop only. */
  protected final boolean isFlushed() {
    return open == null;
  }

  /** Returns whether nothing waits or is being processed; source loop only. */
  public final boolean isIdle() {
    return open == null && waiting.get() == 0;
  }

  /** Hands over what was added to the destination; source loop only. */
  public void flush() {
    Batch batch = open;
    if (batch == null) {
      return;
    }
    open = null;
    long flushed = batch.load;
    boolean taken = false;
    waiting.addAndGet(flushed);
    try {
      destination.execute(batch);
      taken = true;
    } catch (RejectedExecutionException e) {
      taken = true;
      // The destination has ended, and with it every connection of the batch.
      batch.discardFrom(0);
    } finally {
      if (!taken) {
        // For the next flush: nothing of it may be lost.
        open = batch;
        waiting.addAndGet(-flushed);
      }
    }
  }

  /** Returns whether more than the limit waits; source loop only. */
  public final boolean isFull() {
    Batch batch = open;
    return waiting.get() + (batch == null ? 0 : batch.load) > limit;
  }

  /** Calls back when the queue is no longer full; source loop only. */
  public final void whenNotFull(Runnable retry) {
    waiters.add(retry);
    if (!isFull()) {
      waiters.wake();
    }
  }
}
