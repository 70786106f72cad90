package io.eventbus.client.internal.inbound;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.internal.base.Counters;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.schema.GapReason;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Inbound path: checks each delivery against what was received before, and hands it to the queues
 * of its subscriptions, once for each WebSocket message.
 *
 * <p>Works on the connection's thread and never waits: a full queue makes room by its
 * subscription's policy; under BLOCK the {@link ReadGate} stalls the bus. Its lock only matters
 * when an old connection's last messages meet the first ones of a new connection.
 */
public final class Dispatcher {
  private final ReentrantLock lock = new ReentrantLock();
  private final Subscriptions subscriptions;
  private final Acks acks;
  private final Counters counters;
  private final Notifier notifier;
  private final Routes routes;
  private final ReadGate gate;
  private final MicroClock clock;
  private final Runnable onRoom;
  private final DeliverView view = new DeliverView();
  private final List<SubscriptionState> touched = new ArrayList<>();
  private final List<SubscriptionState> targets = new ArrayList<>();
  private @Nullable HeldDeliveries held;
  private @Nullable Runnable tooMuch;

  public Dispatcher(
      Subscriptions subscriptions,
      Acks acks,
      Counters counters,
      Notifier notifier,
      ReadGate gate,
      MicroClock clock,
      int trackedProducers) {
    this.subscriptions = subscriptions;
    this.acks = acks;
    this.counters = counters;
    this.notifier = notifier;
    this.gate = gate;
    this.clock = clock;
    this.onRoom = gate::onRoom;
    this.routes = new Routes(trackedProducers);
  }

  public void lock() {
    lock.lock();
  }

  public void unlock() {
    lock.unlock();
  }

  /** Reads deliveries from this connection from now on. */
  public void readFrom(ReadGate.Reader connection) {
    gate.attach(connection);
  }

  /** Checks the gate after this connection has brought deliveries, which the queues have now. */
  public void look(ReadGate.Reader connection) {
    gate.apply(connection);
  }

  /** Takes a {@code Deliver} frame; {@link #handOver} has to follow. Under the lock. */
  public void deliver(ByteBuffer message, int from, int to) {
    view.read(message, from, to, FrameLimits.UNLIMITED);
    int count = view.eventCount();
    if (count == 0) {
      return;
    }
    TopicHandlers topic = route(message);
    ProducerState origin = routes.producer(topic, view.producer());
    HeldDeliveries holding = held;
    if (holding != null && topic.inGroups.length > 0) {
      holding.add(origin, view.sequence(), message, from, to, false);
      Runnable tell = tooMuch;
      if (tell != null && holding.isTooMuch()) {
        tooMuch = null;
        tell.run();
      }
    } else {
      judge(message, topic, origin);
    }
  }

  private void judge(ByteBuffer message, TopicHandlers topic, ProducerState origin) {
    if (topic.everyEvent.length > 0 && isForGroupsAlone()) {
      counters.received.add(view.eventCount());
      giveToMembers(message, topic, origin);
      return;
    }
    int skip = duplicates(topic, origin);
    findTargets(topic);
    give(message, origin, skip);
  }

  /**
   * Returns whether subscriptions without a group get the events with another frame: those of a
   * durable topic come from two buses, in no order between them.
   */
  private boolean isForGroupsAlone() {
    return view.offset() > 0 && view.groupCount() > 0;
  }

  private void giveToMembers(ByteBuffer message, TopicHandlers topic, ProducerState origin) {
    targets.clear();
    findMembers(topic);
    if (!targets.isEmpty()) {
      give(message, origin, 0);
    }
  }

  private int duplicates(TopicHandlers topic, ProducerState origin) {
    boolean complete = topic.everyEvent.length > 0;
    int count = view.eventCount();
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
    return skip;
  }

  private void give(ByteBuffer message, ProducerState origin, int skip) {
    int count = view.eventCount();
    if (skip == count || targets.isEmpty()) {
      acks.handled(origin, view.sequence() + count - 1);
      return;
    }
    InboundDelivery delivery =
        new InboundDelivery(
            message,
            view.eventsStart(),
            view.eventsEnd(),
            origin,
            view.sequence(),
            view.schema(),
            view.receivedAt(),
            count,
            skip,
            view.offset() < 1
                ? null
                : new InboundDelivery.Durable(
                    view.offset(), view.originProducer(), view.originSequence()));
    delivery.shareAmong(targets.size());
    for (SubscriptionState target : targets) {
      arrive(target, delivery);
    }
  }

  private void arrive(SubscriptionState target, Inbound what) {
    if (target.arrived.isEmpty()) {
      touched.add(target);
    }
    target.arrive(what);
  }

  private TopicHandlers route(ByteBuffer message) {
    int start = message.arrayOffset() + view.topicStart();
    TopicHandlers topic = routes.topic(message.array(), start, view.topicLength(), view::topic);
    rematch(topic);
    return topic;
  }

  private void rematch(TopicHandlers topic) {
    Subscriptions.Snapshot now = subscriptions.snapshot();
    if (topic.version != now.version() && !topic.match(now.all(), now.version())) {
      topic.producers.values().forEach(ProducerState::forgetBaseline);
    }
  }

  private void findTargets(TopicHandlers topic) {
    targets.clear();
    for (SubscriptionState subscription : topic.everyEvent) {
      targets.add(subscription);
    }
    findMembers(topic);
  }

  private void findMembers(TopicHandlers topic) {
    for (int i = 0; i < view.groupCount(); i++) {
      SubscriptionState member = topic.inGroup(view.group(i));
      if (member != null && !targets.contains(member)) {
        targets.add(member);
      }
    }
  }

  /** Takes a {@code Gap} frame. Under the lock. */
  public void gap(io.eventbus.schema.Gap frame) {
    if (frame.getFrom() < 1 || frame.getTo() < frame.getFrom()) {
      return;
    }
    ProducerState origin = origin(frame);
    tell(frame, origin, frame.getFrom());
  }

  private ProducerState origin(io.eventbus.schema.Gap frame) {
    byte[] name = frame.getTopic().getBytes(java.nio.charset.StandardCharsets.UTF_8);
    TopicHandlers topic = routes.topic(name, 0, name.length, frame::getTopic);
    rematch(topic);
    return routes.producer(topic, frame.getProducer());
  }

  private void tell(io.eventbus.schema.Gap frame, ProducerState origin, long from) {
    Gap.Reason reason = reason(frame.getReason());
    origin.gap(
        from,
        frame.getTo(),
        (low, high) -> tellGap(origin.topic, origin.producer, low, high, reason));
  }

  private static Gap.Reason reason(GapReason reason) {
    return switch (reason) {
      case QUEUE_FULL -> Gap.Reason.QUEUE_FULL;
      case CONFLATED -> Gap.Reason.CONFLATED;
      case UNKNOWN -> Gap.Reason.LOST;
    };
  }

  private void tellGap(TopicHandlers topic, long producer, long from, long to, Gap.Reason reason) {
    Gap gap = new Gap(topic.name, producer, from, to, reason);
    counters.missing.add(gap.count());
    for (SubscriptionState subscription : topic.everyEvent) {
      subscription.missing.add(gap.count());
      arrive(
          subscription,
          new MissingEvents(
              new Gap(topic.name, producer, from, to, reason, subscription.filter()),
              clock.epochMicros()));
    }
    notifier.tell(listener -> listener.gap(gap));
  }

  /**
   * Takes note that a bus has a subscription or service in force, and reports the interruption
   * before, if there was one; {@link #handOver} has to follow. Under the lock.
   */
  public void confirmed(long id) {
    Subscriptions.Return back = subscriptions.confirmed(id);
    if (back != null) {
      Interruption interruption = back.interruption();
      back.subscription().interruptions.increment();
      arrive(back.subscription(), new Absence(interruption));
      notifier.tell(listener -> listener.interruption(interruption));
    }
  }

  /** Gives what has arrived to the queues. Under the lock. */
  public void handOver() {
    for (SubscriptionState target : touched) {
      makeRoom(target);
      // First: the consumer may make room before the offer returns.
      target.queue.onRoom(onRoom);
      if (target.offerArrived()) {
        gate.onFull();
      }
      target.wakeConsumer();
    }
    touched.clear();
  }

  private void makeRoom(SubscriptionState target) {
    BufferPolicy.Dropped dropped = target.queue.makeRoom();
    if (dropped == null) {
      return;
    }
    for (InboundDelivery delivery : dropped.deliveries) {
      if (delivery.handled()) {
        acks.handled(delivery);
      }
    }
    for (Gap gap : dropped.gaps) {
      counters.missing.add(gap.count());
      target.missing.add(gap.count());
      notifier.tell(listener -> listener.gap(gap));
    }
    for (Interruption interruption : dropped.interruptions) {
      target.interruptions.increment();
      notifier.tell(listener -> listener.interruption(interruption));
    }
    if (target.queue.disconnects() && !dropped.deliveries.isEmpty()) {
      String why =
          "the subscription to "
              + target.filter()
              + " with DISCONNECT is too slow (bufferBytes: "
              + target.options().bufferBytes()
              + ')';
      EventBusException problem = new EventBusException.Refused(ErrorCode.SLOW_CONSUMER, why, true);
      notifier.tell(listener -> listener.problem(problem));
      gate.tooSlow(why);
    }
  }

  // ---- Two connections at once, see HeldDeliveries. All under the lock.

  /**
   * Starts to hold deliveries of a second connection, until {@link #release}.
   *
   * @param whenTooMuch called once, on the connection's thread, when the old connection has brought
   *     more than may be held; must not block
   */
  public void hold(Runnable whenTooMuch) {
    held = new HeldDeliveries();
    tooMuch = whenTooMuch;
  }

  /** Returns whether the bus is stalled because the application has not consumed what came. */
  public boolean isStalled() {
    return gate.isStalling();
  }

  /**
   * Holds a {@code Deliver} frame of the new connection; returns false if that connection should
   * not be read further.
   */
  public boolean hold(ByteBuffer message, int from, int to) {
    HeldDeliveries holding = held;
    if (holding == null) {
      return true;
    }
    view.read(message, from, to, FrameLimits.UNLIMITED);
    if (view.eventCount() > 0) {
      TopicHandlers topic = route(message);
      if (topic.inGroups.length > 0) {
        ProducerState origin = routes.producer(topic, view.producer());
        holding.add(origin, view.sequence(), message, from, to, true);
      } else {
        holding.add(message, from, to);
      }
    }
    return !holding.isFull();
  }

  /** Holds a {@code Gap} frame of the new connection. */
  public void hold(io.eventbus.schema.Gap frame) {
    if (held != null && frame.getFrom() >= 1 && frame.getTo() >= frame.getFrom()) {
      held.add(frame);
    }
  }

  /** Drops what is held but for groups, because the new connection will not stay. */
  public void holdGroupsOnly() {
    if (held != null) {
      held.keepGroupsOnly();
    }
  }

  /**
   * Hands on what was held, without duplicates.
   *
   * @param moved whether the new connection is the one that stays; if not, only its events of
   *     groups are handed on, because no other member got them
   */
  public void release(boolean moved) {
    HeldDeliveries holding = held;
    held = null;
    tooMuch = null;
    if (holding == null) {
      return;
    }
    if (moved) {
      holding.plain().forEach(this::release);
    }
    for (List<HeldDeliveries.Held> ofOneProducer : holding.grouped()) {
      ofOneProducer.forEach(delivery -> releaseGrouped(delivery, moved || !delivery.fresh()));
    }
  }

  private void release(HeldDeliveries.Held delivery) {
    ByteBuffer message = delivery.message();
    io.eventbus.schema.Gap gap = delivery.gap();
    if (message != null) {
      deliver(message, delivery.from(), delivery.to());
    } else if (gap != null) {
      ProducerState origin = origin(gap);
      long from = origin.firstUnseen(gap.getFrom());
      if (from <= gap.getTo()) {
        tell(gap, origin, from);
      }
    }
  }

  private void releaseGrouped(HeldDeliveries.Held delivery, boolean everything) {
    ByteBuffer message = delivery.message();
    if (message == null) {
      return;
    }
    view.read(message, delivery.from(), delivery.to(), FrameLimits.UNLIMITED);
    TopicHandlers topic = route(message);
    ProducerState origin = routes.producer(topic, view.producer());
    if (topic.everyEvent.length == 0) {
      judge(message, topic, origin);
      return;
    }
    // The same event comes over both connections for subscriptions without a group, but over one of
    // them for the group: an event that the former have seen may be new to the latter.
    giveToMembers(message, topic, origin);
    if (everything && !isForGroupsAlone()) {
      targets.clear();
      targets.addAll(List.of(topic.everyEvent));
      give(message, origin, duplicates(topic, origin));
    }
  }
}
