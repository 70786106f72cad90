package io.eventbus.client.internal;

/**
 * How much the bus may deliver over one connection: bytes of {@code Deliver} frames, counted since
 * its {@code Welcome}. It decides when more is to be granted, and how much; without a clock, and
 * without sending. Any thread may use it.
 */
final class CreditGate {
  /**
   * So much is granted while no queue is full, however small it is: one message of small frames,
   * which holds as much anyway.
   */
  static final long MIN = 64 * 1024;

  private static final long NOT_TOLD = -1;

  // The bus may pass it by one frame.
  private long limit = NOT_TOLD;
  // How far that was ahead of what had come.
  private long granted;
  private long received;
  // Where the last delivery began.
  private long lastBegan;
  private boolean refused;

  /**
   * Deliveries have come.
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
   * Whether a new limit should be told.
   *
   * @param room bytes that may come before a queue is full
   * @return true when what the bus may still send is half of that, or less
   */
  synchronized boolean isDue(long room) {
    return !refused && limit - received <= room / 2;
  }

  /** The limit with which the bus may send so many bytes from now on. */
  synchronized long next(long room) {
    return received + room;
  }

  /**
   * The bus is to be told a limit.
   *
   * @return false if it needs not be: it is no more than what it was told, or it does not know of
   *     credit
   */
  synchronized boolean tell(long newLimit) {
    if (refused || newLimit <= limit) {
      return false;
    }
    limit = newLimit;
    granted = newLimit - received;
    return true;
  }

  /** What has come. */
  synchronized long received() {
    return received;
  }

  /** The bus does not know of credit: it is held back only by not reading. */
  synchronized void refused() {
    refused = true;
  }

  /**
   * Whether the bus sends without regard to the limit: it does not know of credit, it has not been
   * told a limit yet, or it could not be told a later one.
   */
  synchronized boolean isBeyond() {
    return refused || (received > 0 && lastBegan >= limit);
  }
}
