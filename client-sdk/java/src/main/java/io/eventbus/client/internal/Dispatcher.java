package io.eventbus.client.internal;

import io.eventbus.client.Gap;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.schema.GapReason;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The way in: checks each delivery against what was received before, and hands it to the queues of
 * the subscriptions it is for, once for each WebSocket message.
 *
 * <p>Works on the connection's thread and never waits: when a queue is full, the {@link ReadGate}
 * keeps the connection from being read. Its lock only matters when an old connection's last
 * messages meet the first ones of a new connection.
 */
final class Dispatcher {
  // A message is at most as big as the transport allows; what is in it was checked by the bus.
  private static final FrameLimits WHATEVER_FITS =
      new FrameLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

  private final ReentrantLock lock = new ReentrantLock();
  private final Subscriptions subscriptions;
  private final Acks acks;
  private final Counters counters;
  private final Notifier notifier;
  private final Routes routes;
  private final ReadGate gate;
  private final Runnable hasRoom;
  private final DeliverView view = new DeliverView();
  private final List<SubscriptionState> touched = new ArrayList<>();
  private final List<SubscriptionState> targets = new ArrayList<>();

  Dispatcher(
      Subscriptions subscriptions,
      Acks acks,
      Counters counters,
      Notifier notifier,
      ReadGate gate,
      int trackedProducers) {
    this.subscriptions = subscriptions;
    this.acks = acks;
    this.counters = counters;
    this.notifier = notifier;
    this.gate = gate;
    this.hasRoom = gate::hasRoom;
    this.routes = new Routes(trackedProducers);
  }

  void lock() {
    lock.lock();
  }

  void unlock() {
    lock.unlock();
  }

  /** This connection brings what is delivered from now on. */
  void readFrom(ReadGate.Reader connection) {
    gate.attach(connection);
  }

  /** Takes a {@code Deliver} frame; {@link #handOver} has to follow. Under the lock. */
  void deliver(ByteBuffer message, int from, int to) {
    view.read(message, from, to, WHATEVER_FITS);
    int count = view.eventCount();
    if (count == 0) {
      return;
    }
    TopicRoute topic = route(message);
    ProducerState origin = routes.producer(topic, view.producer());
    boolean complete = topic.everyEvent.length > 0;
    int skip =
        origin.received(
            view.sequence(),
            count,
            complete,
            (low, high) -> tellGap(topic, origin.producer, low, high, Gap.Reason.LOST));
    if (skip > 0) {
      counters.duplicates.add(skip);
      for (SubscriptionState subscription : topic.everyEvent) {
        subscription.duplicates.add(skip);
      }
    }
    counters.received.add(count - skip);
    findTargets(topic);
    if (skip == count || targets.isEmpty()) {
      acks.handled(origin, view.sequence() + count - 1);
      return;
    }
    Delivery delivery =
        new Delivery(
            message,
            view.eventsStart(),
            view.eventsEnd(),
            origin,
            view.sequence(),
            view.schema(),
            view.receivedAt(),
            count,
            skip);
    delivery.shareAmong(targets.size());
    for (SubscriptionState target : targets) {
      if (target.arrived.isEmpty()) {
        touched.add(target);
      }
      target.arrived.add(delivery);
      target.arrivedBytes += delivery.bytes;
    }
  }

  private TopicRoute route(ByteBuffer message) {
    int start = message.arrayOffset() + view.topicStart();
    TopicRoute topic = routes.topic(message.array(), start, view.topicLength(), view::topic);
    rematch(topic);
    return topic;
  }

  private void rematch(TopicRoute topic) {
    Subscriptions.Snapshot now = subscriptions.snapshot();
    if (topic.version != now.version() && !topic.match(now.all(), now.version())) {
      topic.producers.values().forEach(ProducerState::forgetBaseline);
    }
  }

  private void findTargets(TopicRoute topic) {
    targets.clear();
    for (SubscriptionState subscription : topic.everyEvent) {
      targets.add(subscription);
    }
    for (int i = 0; i < view.groupCount(); i++) {
      SubscriptionState member = topic.inGroup(view.group(i));
      if (member != null && !targets.contains(member)) {
        targets.add(member);
      }
    }
  }

  /** Takes a {@code Gap} frame. Under the lock. */
  void gap(io.eventbus.schema.Gap frame) {
    if (frame.getFrom() < 1 || frame.getTo() < frame.getFrom()) {
      return;
    }
    byte[] name = frame.getTopic().getBytes(java.nio.charset.StandardCharsets.UTF_8);
    TopicRoute topic = routes.topic(name, 0, name.length, frame::getTopic);
    rematch(topic);
    ProducerState origin = routes.producer(topic, frame.getProducer());
    Gap.Reason reason = reason(frame.getReason());
    origin.gap(
        frame.getFrom(),
        frame.getTo(),
        (low, high) -> tellGap(topic, origin.producer, low, high, reason));
  }

  private static Gap.Reason reason(GapReason reason) {
    return switch (reason) {
      case QUEUE_FULL -> Gap.Reason.QUEUE_FULL;
      case CONFLATED -> Gap.Reason.CONFLATED;
      case UNKNOWN -> Gap.Reason.LOST;
    };
  }

  private void tellGap(TopicRoute topic, long producer, long from, long to, Gap.Reason reason) {
    Gap gap = new Gap(topic.name, producer, from, to, reason);
    counters.missing.add(gap.count());
    for (SubscriptionState subscription : topic.everyEvent) {
      subscription.missing.add(gap.count());
    }
    notifier.tell(listener -> listener.gap(gap));
  }

  /** Gives what has arrived to the queues. Under the lock. */
  void handOver() {
    for (SubscriptionState target : touched) {
      // First: the consumer may make room before the offer returns.
      target.queue.onRoom(hasRoom);
      if (target.queue.offer(target.arrived, target.arrivedBytes)) {
        gate.isFull();
      }
      target.arrived.clear();
      target.arrivedBytes = 0;
      target.wakeConsumer();
    }
    touched.clear();
  }
}
