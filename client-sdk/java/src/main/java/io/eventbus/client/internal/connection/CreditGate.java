package io.eventbus.client.internal.connection;

/**
 * Credit of one connection: number of bytes of {@code Deliver} frames that the bus may send,
 * counted since its {@code Welcome}. Decides when more is granted, and how much; without a clock,
 * and without sending. Any thread may use it.
 */
final class CreditGate {
  /**
   * Bytes that are granted while no queue is full, however small it is: one message of small
   * frames, which holds as much anyway.
   */
  static final long MIN_GRANT_BYTES = 64 * 1024;

  private static final long NO_LIMIT = -1;

  // The bus may exceed it by one frame.
  private long limit = NO_LIMIT;
  // Lead of that limit over what had come.
  private long granted;
  private long received;
  // Position at which the last delivery began.
  private long lastBegan;
  private boolean refused;

  /**
   * Counts deliveries.
   *
   * @param bytes of all of them
   * @param last bytes of the last one
   */
  synchronized boolean received(long bytes, int last) {
    received += bytes;
    lastBegan = received - last;
    return isBeyond() || isDue(granted);
  }

  /**
   * Returns whether a new limit should be sent: true when half of the room or less is left to the
   * bus.
   *
   * @param room bytes that may come before a queue is full
   */
  synchronized boolean isDue(long room) {
    return !refused && limit - received <= room / 2;
  }

  /** Returns the limit with which the bus may send that many bytes from now on. */
  synchronized long next(long room) {
    return received + room;
  }

  /**
   * Records a limit that is to be sent to the bus; returns false if it need not be sent: it is no
   * higher than the last one, or the bus does not know of credit.
   */
  synchronized boolean raise(long newLimit) {
    if (refused || newLimit <= limit) {
      return false;
    }
    limit = newLimit;
    granted = newLimit - received;
    return true;
  }

  /** Returns the number of bytes received. */
  synchronized long received() {
    return received;
  }

  /** Records that the bus does not know of credit: only not reading stalls it. */
  synchronized void refused() {
    refused = true;
  }

  /**
   * Returns whether the bus sends without regard to the limit: it does not know of credit, it has
   * no limit yet, or a later one could not be sent.
   */
  synchronized boolean isBeyond() {
    return refused || (received > 0 && lastBegan >= limit);
  }
}
