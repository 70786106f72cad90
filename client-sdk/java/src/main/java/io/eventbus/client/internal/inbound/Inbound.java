package io.eventbus.client.internal.inbound;

/** Entry of a subscription's queue, which waits for its consumer in the order in which it came. */
sealed interface Inbound permits Absence, InboundDelivery, MissingEvents {
  /** Returns the bytes that it takes of the subscription's buffer. */
  int bytes();
}
