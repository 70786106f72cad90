package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;

/**
 * One connection as routing sees it.
 *
 * <p>An implementation must not block and must not throw: it runs inside the read cycle of a
 * publisher, and whoever comes after it in the fan-out would be left without the event. One for
 * which there is no memory ends itself.
 */
public interface Subscriber {
  /** Returns the loop that owns the connection. */
  int loop();

  /**
   * Takes a delivery into the queue, or does with it what the policy says. Only the owning loop
   * calls this. The implementation retains the delivery if it keeps it.
   *
   * @param overflow what to do if the queue is full
   */
  void offer(Delivery delivery, Overflow overflow);

  /**
   * Notes that {@link #offer} has thrown, so that the delivery is lost for this subscriber: one
   * that serves a client counts it and ends, because the client could not be told what is missing.
   * Only the owning loop calls this.
   */
  default void failed(Delivery delivery) {}

  /**
   * Says whether publishers that feed this queue under BLOCK have to wait. Any thread; cheap.
   *
   * @return true from the moment the queue is full until it is half empty or closed
   */
  boolean isFull();

  /**
   * Says whether much waits already, so that another member of a group is the better choice. Any
   * thread; cheap.
   */
  boolean isCrowded();

  /**
   * Says whether there has mostly been nothing to read for some seconds. Any thread; cheap.
   *
   * @return true if so, whether or not anything was published
   */
  default boolean isStarving() {
    return false;
  }

  /**
   * Notes that this subscriber, being full, has held a publisher back from others that had nothing
   * to read. Any thread.
   *
   * @param nanos for how long
   */
  default void chargeHold(long nanos) {}

  /**
   * Asks for a call when {@link #isFull} may have become false. Any thread. It may come at once,
   * late by a moment, or without need, but it comes, also when the subscriber is closed.
   *
   * @param retry must not block and not throw
   */
  void whenNotFull(Runnable retry);
}
