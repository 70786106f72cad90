package io.eventbus.registry;

/** Duration for which a bus leaves its cluster. */
public enum Departure {
  /**
   * Stop of a bus that may come back with its data directory: it hands over the leadership, and its
   * vote if there is a bus to take it, and stays a member. This is right if it is unknown whether
   * the bus will be started again.
   */
  STOP,
  /**
   * Departure for good: besides, the bus is removed from the members and the registry. The bus must
   * not renew its lease meanwhile.
   */
  FOR_GOOD
}
