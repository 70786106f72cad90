package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Events of one subscription: how many, and whether any is missing, doubled or out of order. */
final class Receipts {
  private final Map<String, Long> last = new ConcurrentHashMap<>();
  private final LongAdder count = new LongAdder();
  private final LongAdder wrong = new LongAdder();
  private final Subscription subscription;

  private Receipts(EventBusClient client, String filter, SubscribeOptions options) {
    subscription = client.subscribe(filter, options, this::take);
  }

  static Receipts of(EventBusClient client, String filter) throws Exception {
    return of(client, filter, SubscribeOptions.DEFAULT);
  }

  static Receipts of(EventBusClient client, String filter, SubscribeOptions options)
      throws Exception {
    Receipts receipts = new Receipts(client, filter, options);
    receipts.subscription.ready().toCompletableFuture().get(60, TimeUnit.SECONDS);
    return receipts;
  }

  private void take(ReceivedEvent event) {
    Long before = last.put(event.topic() + "/" + event.producer(), event.sequence());
    // A group's member sees holes; a subscriber without a group sees each number.
    boolean group = subscription != null && subscription.options().group() != null;
    long expected = before == null ? 1 : before + 1;
    if (group ? before != null && event.sequence() <= before : event.sequence() != expected) {
      wrong.increment();
    }
    count.increment();
  }

  long count() {
    return count.sum();
  }

  /** Waits until all have come, and looks for those that came too often or in disorder. */
  void await(long expected) {
    WatchedBus.await(
        () -> count() >= expected, () -> count() + " events (expected: " + expected + ")");
    check(expected);
  }

  void check(long expected) {
    assertThat(count()).isEqualTo(expected);
    assertThat(wrong.sum()).as("events out of order or doubled").isZero();
    assertThat(subscription.counters().missing()).as("missing").isZero();
  }

  long duplicates() {
    return subscription.counters().duplicates();
  }

  long misplaced() {
    return wrong.sum();
  }

  Subscription subscription() {
    return subscription;
  }
}
