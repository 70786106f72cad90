package io.eventbus.server.delivery;

import io.eventbus.schema.Overflow;

/**
 * Connection as routing sees it.
 *
 * <p>An implementation must not block and must not throw: it runs inside the read cycle of a
 * publisher, and later subscribers of the fan-out would miss the event. One for which there is no
 * memory ends itself.
 */
public interface Subscriber {
  /** Returns the loop that owns the connection. */
  int loop();

  /**
   * Queues a delivery, or treats it as the policy says. Only the owning loop calls this. The
   * implementation retains the delivery if it keeps it.
   *
   * @param overflow policy if the queue is full
   */
  void offer(Delivery delivery, Overflow overflow);

  /**
   * Notes that {@link #offer} has thrown, so that the delivery is lost for this subscriber: a
   * client's connection counts it and ends, because the client could not be told what is missing.
   * Only the owning loop calls this.
   */
  default void failed(Delivery delivery) {}

  /**
   * Returns whether publishers that feed this queue under BLOCK have to wait: from the moment the
   * queue is full until it is half empty or closed. Any thread; cheap.
   */
  boolean isFull();

  /**
   * Returns whether much waits already, so that another member of a group is the better choice. Any
   * thread; cheap.
   */
  boolean isCrowded();

  /**
   * Returns whether there has mostly been nothing to read for some seconds, whether or not anything
   * was published. Any thread; cheap.
   */
  default boolean isStarving() {
    return false;
  }

  /**
   * Charges this full subscriber for having stalled a publisher while others had nothing to read.
   * Any thread.
   *
   * @param nanos length of the stall
   */
  default void chargeStall(long nanos) {}

  /**
   * Calls back when {@link #isFull} may have become false. Any thread. It may come at once, late by
   * a moment, or without need, but it comes, also when the subscriber is closed.
   *
   * @param retry must not block and not throw
   */
  void whenNotFull(Runnable retry);
}
