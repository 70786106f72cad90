package io.eventbus.client.internal;

import java.util.concurrent.atomic.LongAdder;

/** Counts of a client beside those of the {@link Outbox}; any thread may add. */
final class Counters {
  final LongAdder confirmed = new LongAdder();
  final LongAdder received = new LongAdder();
  final LongAdder duplicates = new LongAdder();
  final LongAdder missing = new LongAdder();
  final LongAdder handlerFailures = new LongAdder();
  final LongAdder reconnects = new LongAdder();
  final LongAdder busChanges = new LongAdder();
  final LongAdder abandonedSubscriptions = new LongAdder();
}
