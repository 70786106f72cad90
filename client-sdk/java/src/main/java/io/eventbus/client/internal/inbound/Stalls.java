package io.eventbus.client.internal.inbound;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.Notifier;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Detector of subscriptions under BLOCK that stall the others of their client. Confined to the
 * conductor.
 */
public final class Stalls {
  /** Time over which stalls are added up; they are reported if they are more than half of it. */
  static final Duration WINDOW = Duration.ofSeconds(2);

  /** Minimum time between two reports. */
  static final Duration PAUSE = Duration.ofSeconds(10);

  private static final int MAX_NAMED = 5;

  private final Subscriptions subscriptions;
  private final Notifier notifier;
  // Start of the window, and nanoseconds for which queues had been full until then.
  private long begun;
  private Map<SubscriptionState, Long> before = Map.of();
  private boolean reported;
  private long reportedAt;

  public Stalls(Subscriptions subscriptions, Notifier notifier, long nanoTime) {
    this.subscriptions = subscriptions;
    this.notifier = notifier;
    this.begun = nanoTime;
  }

  /** Checks the queues; to be called at intervals. */
  public void check(long nanoTime) {
    long window = nanoTime - begun;
    if (window < WINDOW.toNanos()) {
      return;
    }
    List<SubscriptionState> all = subscriptions.snapshot().all();
    Map<SubscriptionState, Long> now = new HashMap<>();
    SubscriptionState slow = null;
    long longest = window / 2;
    for (SubscriptionState each : all) {
      long full = each.queue.fullNanos();
      if (full == 0) {
        continue;
      }
      now.put(each, full);
      long stalled = full - before.getOrDefault(each, 0L);
      if (stalled > longest
          || (slow != null && stalled == longest && each.queue.room() < slow.queue.room())) {
        slow = each;
        longest = stalled;
      }
    }
    begun = nanoTime;
    before = now;
    if (slow != null && (!reported || nanoTime - reportedAt >= PAUSE.toNanos())) {
      tell(slow, all, nanoTime);
    }
  }

  private void tell(SubscriptionState slow, List<SubscriptionState> all, long nanoTime) {
    List<String> others =
        all.stream().filter(s -> s != slow).map(SubscriptionState::filter).distinct().toList();
    if (others.isEmpty()) {
      return;
    }
    reported = true;
    reportedAt = nanoTime;
    String named = others.stream().limit(MAX_NAMED).collect(Collectors.joining(", "));
    String more = others.size() > MAX_NAMED ? " and " + (others.size() - MAX_NAMED) + " more" : "";
    EventBusException problem =
        new EventBusException.Refused(
            ErrorCode.SLOW_CONSUMER,
            "the subscription to "
                + slow.filter()
                + " with BLOCK has "
                + slow.queue.bytes()
                + " bytes that are not handled (bufferBytes: "
                + slow.options().bufferBytes()
                + "), and holds back the others of this client: "
                + named
                + more
                + " (expected: it keeps up, or another overflow, or a client of its own)",
            true);
    notifier.tell(listener -> listener.problem(problem));
  }
}
