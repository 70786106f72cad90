package io.eventbus.server.session;

import io.eventbus.server.admission.AddressLimits;

/**
 * Share of one connection in the interest that peers are told of: a filter for each of its
 * subscriptions and services, as if none were shared with other connections. Confined to the loop.
 */
public final class InterestShare {
  private final AddressLimits address;
  private int filters;
  private boolean closed;

  InterestShare(AddressLimits address) {
    this.address = address;
  }

  void acquire() {
    filters++;
    address.changeInterest(1);
  }

  void release() {
    if (!closed) {
      filters--;
      address.changeInterest(-1);
    }
  }

  /** Releases all filters; later releases have no effect. */
  void releaseAll() {
    closed = true;
    address.changeInterest(-filters);
    filters = 0;
  }

  /** Returns the number of filters of the connection. */
  public int filters() {
    return filters;
  }

  /**
   * Returns whether all connections from the client's address together have more filters than an
   * address may.
   */
  public boolean isAddressFull() {
    return address.isInterestFull();
  }
}
