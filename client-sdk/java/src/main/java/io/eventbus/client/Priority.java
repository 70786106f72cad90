package io.eventbus.client;

/** Which requests are served first where several wait. */
public enum Priority {
  /** Before the others, which are served all the same. */
  HIGH,
  /** The usual one. */
  NORMAL,
  /** After the others, and refused first when a service is overloaded. */
  LOW
}
