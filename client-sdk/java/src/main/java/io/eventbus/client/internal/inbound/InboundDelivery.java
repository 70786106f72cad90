package io.eventbus.client.internal.inbound;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Checked {@code Deliver} frame on its way to handlers; immutable but for the count of handlers.
 */
final class InboundDelivery implements Inbound {
  final ByteBuffer message;
  final int eventsStart;
  final int eventsEnd;
  final ProducerState origin;
  final long sequence;
  final long schema;
  final long receivedAt;
  final int count;
  // Events at the start that were received before.
  final int skip;
  // Of a durable topic, else null.
  final @Nullable Durable durable;
  final int bytes;
  private @Nullable AtomicInteger sharers;

  InboundDelivery(
      ByteBuffer message,
      int eventsStart,
      int eventsEnd,
      ProducerState origin,
      long sequence,
      long schema,
      long receivedAt,
      int count,
      int skip,
      @Nullable Durable durable) {
    this.durable = durable;
    this.message = message;
    this.eventsStart = eventsStart;
    this.eventsEnd = eventsEnd;
    this.origin = origin;
    this.sequence = sequence;
    this.schema = schema;
    this.receivedAt = receivedAt;
    this.count = count;
    this.skip = skip;
    this.bytes = eventsEnd - eventsStart + origin.topic.name.length();
  }

  /**
   * Facts about the first event of a durable topic.
   *
   * @param position in its journal
   * @param producer the publisher's number, for that of the delivery is the journal's
   * @param sequence the publisher's number of the event
   */
  record Durable(long position, long producer, long sequence) {
    Durable behind(int events) {
      return new Durable(position + events, producer, sequence + events);
    }
  }

  @Override
  public int bytes() {
    return bytes;
  }

  /** Sets the number of subscriptions that share it; to be called before it is given to any. */
  void shareAmong(int subscriptions) {
    if (subscriptions > 1) {
      sharers = new AtomicInteger(subscriptions);
    }
  }

  /** Counts one of the subscriptions as done; any thread. */
  boolean handled() {
    AtomicInteger left = sharers;
    return left == null || left.decrementAndGet() == 0;
  }

  /**
   * Returns a delivery of a part of its events, for one subscription.
   *
   * @param from index of the first of them, from 0
   */
  InboundDelivery part(ByteBuffer own, int from, int events) {
    Durable first = durable == null ? null : durable.behind(from);
    return new InboundDelivery(
        own, 0, own.capacity(), origin, sequence + from, schema, receivedAt, events, 0, first);
  }

  /**
   * Returns the same events in memory of their own; this object if that is no gain, because they
   * are most of the message that they came in.
   */
  InboundDelivery compact() {
    int length = eventsEnd - eventsStart;
    if (length >= message.capacity() / 2) {
      return this;
    }
    ByteBuffer own = ByteBuffer.allocate(length).put(0, message, eventsStart, length);
    InboundDelivery copy =
        new InboundDelivery(
            own, 0, length, origin, sequence, schema, receivedAt, count, skip, durable);
    copy.sharers = sharers;
    return copy;
  }

  long lastSequence() {
    return sequence + count - 1;
  }
}
