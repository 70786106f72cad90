package io.eventbus.loadtest.faults.history;

/** Rule that a history keeps. */
public enum HistoryRule {
  /** A confirmed event is at its position in the final read of each bus, or told as removed. */
  CONFIRMED_IS_STORED,
  /** A position has one event, for all readers, buses and lives. */
  ONE_EVENT_A_POSITION,
  /** A reader's positions rise, and leave out no event of its topics that it was not told of. */
  READ_IN_ORDER,
  /** Numbers of a producer and topic rise with the positions, none twice. */
  PRODUCER_ORDER,
  /** A publication that was certainly refused is nowhere. */
  REFUSED_IS_NOWHERE,
  /** An event that was read once is in the final read of each bus, or told as removed. */
  READ_IS_STORED,
  /** A publication that began after another was confirmed has a greater position. */
  LATER_IS_BEHIND,
  /** An event with an expectation follows the event that it expected. */
  EXPECTATION_HOLDS,
  /** A durable subscription gets each event of its topics, or is told; a worker has it done. */
  DELIVERED_AT_LEAST_ONCE,
  /** An event whose settlement was confirmed does not come again. */
  SETTLED_NEVER_AGAIN,
  /** A durable subscription that is not shared has one consumer at a time. */
  ONE_CONSUMER_AT_A_TIME,
  /** A worker gets what another one had only after that has settled or lost it. */
  REDELIVERY_HAS_CAUSE,
  /** Attempts of an event rise up to the maximum, but for what was given back in order. */
  ATTEMPTS_RISE,
  /** A dead letter was rejected, or all of its attempts have failed. */
  DEAD_HAS_REASON,
  /** An event that is to be tried again later does not come before that. */
  RETRY_WAITS
}
