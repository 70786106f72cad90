package io.eventbus.registry;

/** For how long a bus goes when it leaves its cluster. */
public enum Departure {
  /**
   * It ends, and may come back with its data directory: it hands over the leadership, and its vote
   * if there is a bus to take it, and stays a member. It is right where it is unknown whether the
   * bus will be started again.
   */
  STOP,
  /**
   * It will not come back: besides, it is taken out of the members, and the registry forgets it.
   * The bus must not renew its lease meanwhile.
   */
  FOR_GOOD
}
