package io.eventbus.client.internal;

import io.eventbus.client.EventBusException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions of a client, over all its connections. Any thread may use it; what goes to the
 * bus goes under its lock, so that the bus hears things in the order in which they were decided.
 */
final class Subscriptions {
  private final Outbox outbox;
  private final Notifier notifier;
  private final Map<Long, SubscriptionState> byId = new HashMap<>();
  private final Set<Long> ending = new HashSet<>();
  private volatile Snapshot snapshot = new Snapshot(List.of(), 0);
  private long nextId = 1;
  private boolean connected;
  private boolean closed;

  /** The subscriptions that events are delivered to, and a number that changes with them. */
  record Snapshot(List<SubscriptionState> all, long version) {}

  Subscriptions(Outbox outbox, Notifier notifier) {
    this.outbox = outbox;
    this.notifier = notifier;
  }

  synchronized long takeId() {
    return nextId++;
  }

  Snapshot snapshot() {
    return snapshot;
  }

  synchronized void add(SubscriptionState subscription) {
    if (closed) {
      throw new EventBusException.Closed("the client is closed");
    }
    byId.put(subscription.id(), subscription);
    publish();
    if (connected) {
      outbox.addControl(subscription.subscribeFrame());
    }
  }

  private void publish() {
    snapshot = new Snapshot(List.copyOf(byId.values()), snapshot.version() + 1);
  }

  /** The application wants no more of it; events that are under way still come. */
  synchronized void unsubscribe(SubscriptionState subscription) {
    if (!byId.containsKey(subscription.id()) || !ending.add(subscription.id())) {
      return;
    }
    if (connected) {
      outbox.addControl(subscription.unsubscribeFrame());
    } else {
      remove(subscription.id());
    }
  }

  /** The bus sends nothing more for it. */
  private @Nullable SubscriptionState remove(long id) {
    SubscriptionState subscription = byId.remove(id);
    ending.remove(id);
    if (subscription != null) {
      publish();
      subscription.end();
      notifier.complete(
          () -> subscription.failReady(new EventBusException.Closed("the subscription is ended")));
    }
    return subscription;
  }

  /** A connection is ready: asks for everything again. The outbox must take control frames. */
  synchronized void connected() {
    connected = true;
    byId.values().forEach(subscription -> outbox.addControl(subscription.subscribeFrame()));
  }

  synchronized void disconnected() {
    connected = false;
    // There is nobody left who could send anything for these.
    new ArrayList<>(ending).forEach(this::remove);
  }

  synchronized void confirmed(long id) {
    SubscriptionState subscription = byId.get(id);
    if (subscription != null && !subscription.isConfirmed()) {
      subscription.confirm();
      publish();
      notifier.complete(subscription::completeReady);
    }
  }

  synchronized void drained(long id) {
    remove(id);
  }

  /**
   * The bus does not serve a subscription.
   *
   * @return true if somebody waited for the answer
   */
  synchronized boolean refused(long id, EventBusException failure) {
    SubscriptionState subscription = byId.get(id);
    if (subscription == null) {
      return false;
    }
    boolean waiting = !subscription.isConfirmed();
    // Before remove(), whose reason would be a less telling one.
    notifier.complete(() -> subscription.failReady(failure));
    remove(id);
    return waiting;
  }

  /** Fails the stages of subscriptions that the bus has not answered; they stay. */
  synchronized void expire(long id, EventBusException failure) {
    SubscriptionState subscription = byId.get(id);
    if (subscription != null && !subscription.isConfirmed()) {
      notifier.complete(() -> subscription.failReady(failure));
    }
  }

  /** Ends all of them in good order, and takes no new ones. */
  synchronized List<SubscriptionState> close() {
    closed = true;
    List<SubscriptionState> all = new ArrayList<>(byId.values());
    all.forEach(this::unsubscribe);
    return all;
  }

  /** Ends all of them at once. */
  synchronized void abandon() {
    closed = true;
    connected = false;
    for (SubscriptionState subscription : new ArrayList<>(byId.values())) {
      remove(subscription.id());
    }
  }
}
