package io.eventbus.server.queue;

/**
 * How many bytes of {@code Deliver} frames a client takes, counted since its {@code Welcome}; there
 * is no limit until it has named one. Confined to the connection's loop.
 */
final class DeliveryCredit {
  private long limit = Long.MAX_VALUE;
  private long sent;
  private boolean limited;

  /** Takes a limit; one that is smaller than the one before changes nothing. */
  boolean grant(long newLimit) {
    boolean first = !limited;
    limit = first ? newLimit : Math.max(limit, newLimit);
    limited = true;
    return first;
  }

  /** Deliveries have been written, or begun, with so many bytes. */
  void wrote(long bytes) {
    sent += bytes;
  }

  /** Bytes that a further delivery may begin in; 0 or less for none. */
  long left() {
    return limit - sent;
  }

  boolean isLimited() {
    return limited;
  }
}
