package io.eventbus.loadtest.faults.history;

import io.eventbus.loadtest.faults.history.WorkQueue.Delivery;
import io.eventbus.loadtest.faults.history.WorkQueue.Outcome;
import io.eventbus.loadtest.faults.history.WorkQueue.Settlement;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Delivery of an event, and what may follow it. A handler may run long after its bus has sent the
 * event, so only a time is known before which it was not sent.
 *
 * @param since that time
 */
record WorkStep(Delivery delivery, long since, WorkQueue queue, ConsumerLosses losses) {
  /**
   * Time by which a retry may be early: buses measure it in whole milliseconds of the wall clock,
   * which the machine sets right while it runs.
   */
  static final long EARLY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** Returns whether the event may come again, or be given up, at a time. */
  boolean mayComeAgain(long at) {
    return delivery.has(Outcome.RETRY) || delivery.has(Outcome.RELEASE) || isLost(at);
  }

  /** Returns a time before which what came at another time was not sent. */
  long after(long at) {
    @Nullable Settlement settlement = delivery.settlement();
    boolean asked = delivery.has(Outcome.RETRY) || delivery.has(Outcome.RELEASE);
    return settlement != null && asked && !isLost(at) ? settlement.called() : since;
  }

  /** Returns whether the worker may have lost the event, whatever it has settled. */
  private boolean isLost(long at) {
    return at - since >= queue.limits().ackNanos()
        || losses.any(delivery.worker().client(), delivery.worker().bus(), since, at);
  }

  /** Returns whether the event may come again without an attempt that has failed. */
  boolean mayBeGivenBack(long at) {
    return delivery.has(Outcome.RELEASE)
        || losses.anyInOrder(delivery.worker().client(), delivery.worker().bus(), since, at);
  }

  /** Returns whether the event would come again before the worker has wanted it to. */
  boolean isEarly(long at) {
    @Nullable Settlement settlement = delivery.settlement();
    return settlement != null
        && settlement.outcome() == Outcome.RETRY
        && at - settlement.called() < settlement.delayNanos() - EARLY_NANOS
        && !isLost(at);
  }
}
