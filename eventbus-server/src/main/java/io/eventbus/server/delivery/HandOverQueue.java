package io.eventbus.server.delivery;

import io.eventbus.schema.Overflow;
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
 * Queue of deliveries from one loop to another: collected during a read cycle, then handed over as
 * one task.
 *
 * <p>The source loop adds and flushes; the destination loop runs the batch. At most {@link #LIMIT}
 * bytes wait in between: beyond that {@link #isFull} makes publishers wait. Batches are reused, so
 * that nothing is allocated in steady state.
 */
public final class HandOverQueue {
  /**
   * Bytes between two loops beyond which publishers wait: some milliseconds of work for the
   * destination.
   */
  public static final long LIMIT = 16L * 1024 * 1024;

  /** Bytes that one subscriber of a delivery counts for besides its size: it is work as well. */
  private static final int TARGET_BYTES = 512;

  /**
   * Maximum work of one task at the destination, in subscribers: Netty looks at the clock only
   * after 64 tasks, so that other work comes in between.
   */
  private static final int BATCH_WORK = 512;

  private static final Logger LOG = LoggerFactory.getLogger(HandOverQueue.class);

  /** Deliveries of one read cycle, in order. */
  private final class Batch implements Runnable {
    Delivery[] deliveries = new Delivery[64];
    RouteTarget[][] targets = new RouteTarget[64][];
    int size;
    int work;
    long bytes;

    void add(Delivery delivery, RouteTarget[] to) {
      if (size == deliveries.length) {
        deliveries = Arrays.copyOf(deliveries, size * 2);
        targets = Arrays.copyOf(targets, size * 2);
      }
      deliveries[size] = delivery;
      targets[size++] = to;
      int more = work(delivery, to);
      work += more;
      bytes += delivery.ownBytes() + (long) TARGET_BYTES * more;
    }

    @Override
    public void run() {
      int next = 0;
      OutOfMemoryError endOfHeap = null;
      try {
        while (next < size) {
          Delivery delivery = deliveries[next];
          for (RouteTarget target : targets[next]) {
            try {
              offer(target, delivery);
            } catch (OutOfMemoryError e) {
              endOfHeap = e;
            }
          }
          next++;
          delivery.release();
        }
      } finally {
        // After an error here the rest is lost, but the queue goes on.
        discardFrom(next);
      }
      if (endOfHeap != null) {
        throw endOfHeap;
      }
    }

    /**
     * Offers a delivery to a subscriber. It must not throw; if it does it has missed the delivery,
     * and ends, without affecting others.
     */
    private static void offer(RouteTarget target, Delivery delivery) {
      try {
        target.subscriber().offer(delivery, target.overflow());
      } catch (RuntimeException | Error e) {
        try {
          LOG.error("a subscriber failed to take a delivery", e);
        } finally {
          target.subscriber().failed(delivery);
        }
        if (e instanceof OutOfMemoryError endOfHeap) {
          throw endOfHeap;
        }
      }
    }

    private void discardFrom(int first) {
      for (int i = first; i < size; i++) {
        deliveries[i].release();
      }
      done();
    }

    private void done() {
      long freed = bytes;
      Arrays.fill(deliveries, 0, size, null);
      Arrays.fill(targets, 0, size, null);
      size = 0;
      work = 0;
      bytes = 0;
      spare.set(this);
      if (pending.addAndGet(-freed) < LIMIT / 2 && !waiters.isEmpty()) {
        waiters.wake();
      }
    }
  }

  private final Executor destination;
  private final AtomicReference<@Nullable Batch> spare = new AtomicReference<>();
  private final AtomicLong pending = new AtomicLong();
  private final WakeupList waiters = new WakeupList();
  private @Nullable Batch open;

  public HandOverQueue(Executor destination) {
    this.destination = destination;
  }

  /**
   * Adds a delivery, source loop only. Returns true if it is the first of a batch, so that a flush
   * is due.
   */
  public boolean add(Delivery delivery, RouteTarget[] targets) {
    delivery.retain();
    Batch batch = open;
    boolean first = batch == null;
    if (batch == null) {
      batch = spare.getAndSet(null);
      if (batch == null) {
        batch = new Batch();
      }
      open = batch;
    }
    batch.add(delivery, targets);
    if (batch.work >= BATCH_WORK) {
      flush();
    }
    return first;
  }

  private static int work(Delivery delivery, RouteTarget[] targets) {
    int work = 0;
    for (RouteTarget target : targets) {
      work += target.work(delivery.events());
    }
    return work;
  }

  /** Hands over what was added to the destination; source loop only. */
  public void flush() {
    Batch batch = open;
    if (batch == null) {
      return;
    }
    open = null;
    long flushed = batch.bytes;
    boolean taken = false;
    pending.addAndGet(flushed);
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
        pending.addAndGet(-flushed);
      }
    }
  }

  /** Returns whether the queue is full; source loop only. */
  public boolean isFull() {
    Batch batch = open;
    return pending.get() + (batch == null ? 0 : batch.bytes) > LIMIT;
  }

  /** Calls back when the queue is no longer full; source loop only. */
  public void whenNotFull(Runnable retry) {
    waiters.add(retry);
    if (!isFull()) {
      waiters.wake();
    }
  }

  /** Returns the target for one group member. */
  public static RouteTarget[] single(Subscriber subscriber, Overflow overflow) {
    return new RouteTarget[] {new RouteTarget(subscriber, overflow)};
  }
}
