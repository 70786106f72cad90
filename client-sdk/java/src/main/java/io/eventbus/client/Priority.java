package io.eventbus.client;

/** Order in which waiting requests are served. */
public enum Priority {
  /** Before the others, which are served all the same. */
  HIGH,
  /** Default. */
  NORMAL,
  /** After the others, and refused first when a service is overloaded. */
  LOW
}
