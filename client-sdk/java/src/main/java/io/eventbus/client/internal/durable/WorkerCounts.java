package io.eventbus.client.internal.durable;

import io.eventbus.client.Worker;
import java.util.concurrent.atomic.LongAdder;

/** Counts of a worker. Any thread may add. */
final class WorkerCounts {
  final LongAdder received = new LongAdder();
  final LongAdder late = new LongAdder();
  final LongAdder failed = new LongAdder();
  private final LongAdder done = new LongAdder();
  private final LongAdder retried = new LongAdder();
  private final LongAdder rejected = new LongAdder();

  /** Counts a settlement that is sent. */
  void settled(SettledRange range) {
    switch (range.outcome()) {
      case DONE -> done.add(range.events());
      case RETRY -> retried.add(range.events());
      case REJECT -> rejected.add(range.events());
      case RELEASE, EXTEND, UNKNOWN -> {}
    }
  }

  Worker.Counters snapshot(long bufferedBytes) {
    return new Worker.Counters(
        received.sum(),
        done.sum(),
        retried.sum(),
        rejected.sum(),
        late.sum(),
        failed.sum(),
        bufferedBytes);
  }
}
