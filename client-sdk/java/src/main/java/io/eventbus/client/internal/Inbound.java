package io.eventbus.client.internal;

/** What waits for the consumer of a subscription, in the order in which it came. */
sealed interface Inbound permits Absence, InboundDelivery, MissingEvents {
  /** What it takes of the subscription's buffer. */
  int bytes();
}
