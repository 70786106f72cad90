package io.eventbus.client.internal.base;

import java.util.concurrent.atomic.LongAdder;

/** Counts of a client beside those of the {@code Outbox}; any thread may add. */
public final class Counters {
  public final LongAdder confirmed = new LongAdder();
  public final LongAdder received = new LongAdder();
  public final LongAdder duplicates = new LongAdder();
  public final LongAdder missing = new LongAdder();
  public final LongAdder handlerFailures = new LongAdder();
  public final LongAdder reconnects = new LongAdder();
  public final LongAdder busChanges = new LongAdder();
  public final LongAdder abandonedSubscriptions = new LongAdder();
}
