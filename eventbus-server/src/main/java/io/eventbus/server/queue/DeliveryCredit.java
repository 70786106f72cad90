package io.eventbus.server.queue;

/**
 * Bytes of {@code Deliver} frames that a client accepts, counted since its {@code Welcome}; there
 * is no limit until it has named one. Confined to the connection's loop.
 */
final class DeliveryCredit {
  private long limit = Long.MAX_VALUE;
  private long sent;
  private boolean limited;

  /** Raises the limit; a smaller one changes nothing. */
  boolean grant(long newLimit) {
    boolean first = !limited;
    limit = first ? newLimit : Math.max(limit, newLimit);
    limited = true;
    return first;
  }

  /** Counts written deliveries, or those begun, of so many bytes. */
  void wrote(long bytes) {
    sent += bytes;
  }

  /** Returns the bytes in which a further delivery may begin; 0 or less for none. */
  long left() {
    return limit - sent;
  }

  boolean isLimited() {
    return limited;
  }
}
