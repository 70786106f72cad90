package io.eventbus.server.session;

/**
 * How much of what other buses are told of one connection brings: a filter for each of its
 * subscriptions and each of its services, as if it shared none with others. Confined to the loop.
 */
public final class InterestShare {
  private final ClientLink link;
  private int filters;
  private boolean closed;

  InterestShare(ClientLink link) {
    this.link = link;
  }

  void take() {
    filters++;
    link.changeInterest(1);
  }

  void give() {
    if (!closed) {
      filters--;
      link.changeInterest(-1);
    }
  }

  /** Gives back everything; what is given later has no effect. */
  void giveAll() {
    closed = true;
    link.changeInterest(-filters);
    filters = 0;
  }

  /** Counts what the connection brings. */
  public int filters() {
    return filters;
  }

  /**
   * Says whether all connections from the client's address bring more than one address may.
   *
   * @return true if they do
   */
  public boolean isAddressFull() {
    return link.isInterestFull();
  }
}
