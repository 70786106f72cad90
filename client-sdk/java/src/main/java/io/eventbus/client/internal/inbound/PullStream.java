package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventStream;
import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import io.eventbus.client.internal.base.Nanos;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Pull form of a subscription: the application's threads read the queue themselves. */
public final class PullStream implements EventStream {
  private final SubscriptionState subscription;
  private final PushConsumer.Environment environment;
  private final ReentrantLock reading = new ReentrantLock();
  private boolean finished;

  public PullStream(SubscriptionState subscription, PushConsumer.Environment environment) {
    this.subscription = subscription;
    this.environment = environment;
  }

  @Override
  public @Nullable ReceivedEvent poll(Duration timeout) throws InterruptedException {
    long timeoutNanos = Nanos.of(timeout);
    long deadline = System.nanoTime() + timeoutNanos;
    if (!reading.tryLock(timeoutNanos, TimeUnit.NANOSECONDS)) {
      return null;
    }
    ReceivedEvent event;
    try {
      event = readUntil(deadline);
    } finally {
      reading.unlock();
    }
    if (event == null) {
      // The end may have come after the last look, while this thread kept it from being reported.
      wake();
    }
    return event;
  }

  private @Nullable ReceivedEvent readUntil(long deadline) throws InterruptedException {
    while (true) {
      ReceivedEvent event = readOne();
      if (event != null || finished) {
        return event;
      }
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        return null;
      }
      subscription.queue.await(left);
    }
  }

  private @Nullable ReceivedEvent readOne() {
    if (subscription.queue.isDiscarding()) {
      subscription.reader.discard();
    }
    ReceivedEvent event = subscription.reader.next();
    if (event == null && !finished && subscription.queue.isFinished()) {
      finished = true;
      environment.finished(subscription);
    }
    return event;
  }

  /** Reports the end of the subscription to the application even if nobody polls any more. */
  public void wake() {
    boolean ended = subscription.queue.isDiscarding() || subscription.queue.isFinished();
    if (ended && reading.tryLock()) {
      try {
        if (subscription.queue.isDiscarding() || subscription.reader.isEmpty()) {
          readOne();
        }
      } finally {
        reading.unlock();
      }
    }
  }

  @Override
  public void onGap(Consumer<Gap> gaps) {
    subscription.reader.onGap(gaps);
  }

  @Override
  public void onInterruption(Consumer<Interruption> interruptions) {
    subscription.reader.onInterruption(interruptions);
  }

  @Override
  public Subscription subscription() {
    return subscription;
  }

  @Override
  public void close() {
    subscription.unsubscribe();
    subscription.discard();
  }
}
