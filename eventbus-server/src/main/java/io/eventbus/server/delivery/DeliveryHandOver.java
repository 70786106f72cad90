package io.eventbus.server.delivery;

import io.eventbus.schema.Overflow;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queue of deliveries from a loop to the subscribers of another, or to many of its own. At most
 * {@link #LIMIT} bytes wait in between: beyond that publishers wait. A delivery to thousands is
 * several tasks, so that others come in between.
 */
public final class DeliveryHandOver extends HandOverQueue<DeliveryHandOver.Item> {
  /**
   * Bytes between two loops beyond which publishers wait: some milliseconds of work for the
   * destination.
   */
  public static final long LIMIT = 16L * 1024 * 1024;

  /** Bytes that one subscriber of a delivery counts for besides its size: it is work as well. */
  private static final int TARGET_BYTES = 512;

  private static final RouteTarget[] NONE = {};

  private static final Logger LOG = LoggerFactory.getLogger(DeliveryHandOver.class);

  /** Delivery with its subscribers: those from an index up to another one. */
  static final class Item {
    private @Nullable Delivery delivery;
    private RouteTarget[] targets = NONE;
    private int from;
    private int to;
  }

  public DeliveryHandOver(Executor destination) {
    super(destination, LIMIT);
  }

  /** Returns whether a delivery to these subscribers is more than the work of one task. */
  public static boolean isLarge(Delivery delivery, RouteTarget[] targets) {
    int work = 0;
    for (RouteTarget target : targets) {
      if (work >= TASK_WORK) {
        return true;
      }
      work += target.work(delivery.events());
    }
    return false;
  }

  /**
   * Adds a delivery, source loop only. Returns true if a batch was begun for it, so that a flush is
   * due.
   */
  public boolean add(Delivery delivery, RouteTarget[] targets) {
    boolean begun = false;
    long bytes = delivery.ownBytes();
    int to = 0;
    do {
      int from = to;
      int work = 0;
      while (to < targets.length && work < TASK_WORK) {
        work += targets[to++].work(delivery.events());
      }
      begun |= isFlushed();
      delivery.retain();
      Item item = append(work, bytes + (long) TARGET_BYTES * work);
      item.delivery = delivery;
      item.targets = targets;
      item.from = from;
      item.to = to;
      flushIfLarge();
      // Counted once: the parts share them.
      bytes = 0;
    } while (to < targets.length);
    return begun;
  }

  @Override
  protected Item create() {
    return new Item();
  }

  @Override
  protected void process(Item item) {
    Delivery delivery = item.delivery;
    if (delivery == null) {
      return;
    }
    OutOfMemoryError endOfHeap = null;
    for (int i = item.from; i < item.to; i++) {
      try {
        offer(item.targets[i], delivery);
      } catch (OutOfMemoryError e) {
        endOfHeap = e;
      }
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

  @Override
  protected void clear(Item item) {
    Delivery delivery = item.delivery;
    item.delivery = null;
    item.targets = NONE;
    if (delivery != null) {
      delivery.release();
    }
  }

  /** Returns the target for one group member. */
  public static RouteTarget[] single(Subscriber subscriber, Overflow overflow) {
    return new RouteTarget[] {new RouteTarget(subscriber, overflow)};
  }
}
