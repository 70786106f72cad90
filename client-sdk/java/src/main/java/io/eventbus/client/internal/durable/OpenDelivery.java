package io.eventbus.client.internal.durable;

import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.WorkDelivery;
import io.eventbus.schema.SettleOutcome;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Delivery of one event to a handler. Any thread may use it. */
final class OpenDelivery implements WorkDelivery {
  private static final Duration MAX_DELAY = Duration.ofDays(7);

  final WorkerFeed feed;

  /** Number of the event in its feed. */
  final int index;

  final ReceivedEvent event;
  private final WorkerState worker;

  // Guarded by the lock of WorkerFeeds.
  boolean settled;
  boolean deferred;
  long extendedAt;
  @Nullable CompletableFuture<Void> confirmation;

  OpenDelivery(WorkerState worker, WorkerFeed feed, int index, ReceivedEvent event) {
    this.worker = worker;
    this.feed = feed;
    this.index = index;
    this.event = event;
  }

  /** Returns the range of this event alone. */
  SettledRange range(SettleOutcome outcome, int delayMillis, String reason) {
    long position = event.position();
    return new SettledRange(feed, index, index, position, position, outcome, delayMillis, reason);
  }

  @Override
  public int attempt() {
    return feed.attempt;
  }

  @Override
  public void defer() {
    worker.defer(this);
  }

  @Override
  public void done() {
    worker.settle(this, SettleOutcome.DONE, -1, "");
  }

  @Override
  public CompletionStage<Void> doneConfirmed() {
    return worker.settleConfirmed(this);
  }

  @Override
  public void retry() {
    worker.settle(this, SettleOutcome.RETRY, -1, "");
  }

  @Override
  public void retry(Duration delay) {
    if (delay.isNegative() || delay.compareTo(MAX_DELAY) > 0) {
      throw new IllegalArgumentException(
          "delay: " + delay + " (expected: PT0S.." + MAX_DELAY + ")");
    }
    worker.settle(this, SettleOutcome.RETRY, (int) delay.plusNanos(999_999).toMillis(), "");
  }

  @Override
  public void reject(String reason) {
    worker.settle(this, SettleOutcome.REJECT, -1, Objects.requireNonNull(reason, "reason"));
  }

  @Override
  public void release() {
    worker.settle(this, SettleOutcome.RELEASE, -1, "");
  }

  @Override
  public void extend() {
    worker.extend(this);
  }
}
