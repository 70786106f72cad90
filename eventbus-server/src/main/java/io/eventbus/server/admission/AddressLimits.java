package io.eventbus.server.admission;

import io.eventbus.server.memory.ServiceShare;

/**
 * Limits that all connections from one client address share, as one connection uses them. Confined
 * to the connection's loop except for methods for any thread. What was acquired is released at the
 * latest with the connection.
 */
public interface AddressLimits extends ServiceShare.Address {
  /**
   * Returns whether the client is on this machine, so that no limits for addresses apply; any
   * thread.
   */
  boolean isExempt();

  /**
   * Returns what all connections from one address have in common, also those without limits; any
   * thread.
   */
  Object shareOf();

  /**
   * Returns whether so many clients of the address failed to authenticate lately that the next
   * refusal would be delayed; any thread.
   */
  boolean failsOften();

  /**
   * Acquires room for a subscription; returns false, and acquires nothing, if the address has none
   * left.
   *
   * @param bytes estimated heap bytes
   */
  boolean acquireSubscriptionBytes(long bytes);

  /** Releases bytes of {@link #acquireSubscriptionBytes}, all or a part. */
  void releaseSubscriptionBytes(long bytes);

  /** Changes the number of filters that peers are told of; negative for fewer. */
  void changeInterest(int change);

  /**
   * Returns whether peers are told of more filters because of the address than its share of all.
   */
  boolean isInterestFull();
}
