package io.eventbus.client.internal;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Notices that a subscription under BLOCK holds back the others of its client, and tells which.
 * Confined to the conductor.
 */
final class HoldUps {
  /** Time for which nothing more is wanted before it is told. */
  static final Duration PATIENCE = Duration.ofSeconds(1);

  /** Time in which it is not told again. */
  static final Duration PAUSE = Duration.ofSeconds(10);

  private static final int MAX_NAMED = 5;

  private final Dispatcher dispatcher;
  private final Subscriptions subscriptions;
  private final Notifier notifier;
  // Which time the connection is held, 0 for none, and since when that is known.
  private long hold;
  private long since;
  private boolean told;
  private long toldAt;

  HoldUps(Dispatcher dispatcher, Subscriptions subscriptions, Notifier notifier) {
    this.dispatcher = dispatcher;
    this.subscriptions = subscriptions;
    this.notifier = notifier;
  }

  /** Looks; to be called at intervals. */
  void look(long nanoTime) {
    long held = dispatcher.hold();
    if (held == 0 || held != hold) {
      // It has gone on meanwhile.
      hold = held;
      since = nanoTime;
    } else if (nanoTime - since >= PATIENCE.toNanos()
        && (!told || nanoTime - toldAt >= PAUSE.toNanos())) {
      tell(nanoTime);
    }
  }

  private void tell(long nanoTime) {
    List<SubscriptionState> all = subscriptions.snapshot().all();
    SubscriptionState slow =
        all.stream()
            .filter(SubscriptionState::holdsConnection)
            .max(Comparator.comparingLong(s -> s.queue.bytes()))
            .orElse(null);
    List<String> others =
        all.stream().filter(s -> s != slow).map(SubscriptionState::filter).distinct().toList();
    if (slow == null || others.isEmpty()) {
      return;
    }
    told = true;
    toldAt = nanoTime;
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
