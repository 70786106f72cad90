package io.eventbus.server.delivery;

import io.eventbus.schema.Overflow;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queue of deliveries from one loop to the subscribers of another. At most {@link #LIMIT} bytes
 * wait in between: beyond that publishers wait.
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

  /** Delivery with its subscribers. */
  static final class Item {
    private @Nullable Delivery delivery;
    private RouteTarget[] targets = NONE;
  }

  public DeliveryHandOver(Executor destination) {
    super(destination, LIMIT);
  }

  /**
   * Adds a delivery, source loop only. Returns true if it is the first of a batch, so that a flush
   * is due.
   */
  public boolean add(Delivery delivery, RouteTarget[] targets) {
    delivery.retain();
    boolean first = isFlushed();
    int work = work(delivery, targets);
    Item item = append(work, delivery.ownBytes() + (long) TARGET_BYTES * work);
    item.delivery = delivery;
    item.targets = targets;
    flushIfLarge();
    return first;
  }

  private static int work(Delivery delivery, RouteTarget[] targets) {
    int work = 0;
    for (RouteTarget target : targets) {
      work += target.work(delivery.events());
    }
    return work;
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
    for (RouteTarget target : item.targets) {
      try {
        offer(target, delivery);
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
