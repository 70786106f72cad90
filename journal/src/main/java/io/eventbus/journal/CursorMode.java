package io.eventbus.journal;

/** Way in which the consumers of a cursor get its events. */
public enum CursorMode {
  /** One consumer at a time, which gets all of them and settles them in their order. */
  EXCLUSIVE,
  /** Any number of consumers, each of which takes some of them and settles each by itself. */
  SHARED,
  /**
   * Any number of consumers, each of which gets the events of some keys and settles those of a key
   * in their order.
   */
  KEY_SHARED
}
