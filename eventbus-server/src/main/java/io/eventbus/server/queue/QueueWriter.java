package io.eventbus.server.queue;

import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.netty.buffer.ByteBuf;

/**
 * Writer of queued frames as messages: small neighbours are copied together into one message, a
 * frame that is large or alone goes by reference. Confined to the loop.
 */
final class QueueWriter {
  /**
   * Size up to which frames are copied together; above it the copy costs more than a further
   * message.
   */
  private static final int MAX_COPIED_BYTES = 16 * 1024;

  /** Maximum of bytes that are copied together into one message. */
  static final int MAX_COALESCED = 64 * 1024;

  private final QueueContext context;
  private final MessageSink sink;
  private final DeliveryCredit credit;

  QueueWriter(QueueContext context, MessageSink sink, DeliveryCredit credit) {
    this.context = context;
    this.sink = sink;
    this.credit = credit;
  }

  /**
   * Writes one message with the first frames of a queue that is not empty; returns how many bytes
   * had to be deflated for it.
   *
   * @param within bytes behind which no frame begins but the first
   * @param nowNanos {@link System#nanoTime}, from which the latency of its events is taken
   */
  int writeNext(DeliveryRing ring, long within, long nowNanos) {
    int count = 1;
    int bytes = ring.get(0).frameBytes();
    // A copy is the connection's own, though its source may be held once for thousands.
    long max = context.memory().queueBound(MAX_COALESCED);
    if (bytes <= MAX_COPIED_BYTES) {
      while (count < ring.size() && bytes < within) {
        int next = ring.get(count).frameBytes();
        if (next > MAX_COPIED_BYTES || bytes + next > max) {
          break;
        }
        bytes += next;
        count++;
      }
    }
    if (sink.compresses(bytes)) {
      writeCompressed(ring, count, bytes, nowNanos);
      return bytes;
    }
    if (count == 1 && !mustLeaveSlab(ring.get(0))) {
      Delivery only = ring.poll();
      context.stats().eventsOut.add(only.events());
      recordLatency(only, nowNanos);
      credit.wrote(deliverBytes(only));
      sink.writeMessage(only);
    } else {
      ByteBuf message = sink.newMessage(bytes);
      copy(ring, count, message, nowNanos);
      sink.writeMessage(message);
    }
    return 0;
  }

  /**
   * Returns whether a delivery has to leave its slab: bytes in the socket's queue would keep the
   * slab, which is not counted there.
   */
  private boolean mustLeaveSlab(Delivery delivery) {
    return delivery.isInSlab() && sink.pendingBytes() > 0;
  }

  private void copy(DeliveryRing ring, int count, ByteBuf message, long nowNanos) {
    int events = 0;
    int deliverBytes = 0;
    for (int i = 0; i < count; i++) {
      Delivery delivery = ring.poll();
      events += delivery.events();
      deliverBytes += deliverBytes(delivery);
      recordLatency(delivery, nowNanos);
      delivery.copyFrame(message);
      delivery.release();
    }
    context.stats().eventsOut.add(events);
    credit.wrote(deliverBytes);
  }

  private void recordLatency(Delivery delivery, long nowNanos) {
    if (delivery.events() > 0) {
      context.stats().latency.record(nowNanos - delivery.receivedNanos(), delivery.events());
    }
  }

  /** Returns the credit that a frame uses: nothing unless it holds events. */
  private static int deliverBytes(Delivery frame) {
    return frame.kind() == DeliveryKind.EVENTS ? frame.frameBytes() : 0;
  }

  private void writeCompressed(DeliveryRing ring, int count, int bytes, long nowNanos) {
    ByteBuf plain = context.allocator().directBuffer(bytes);
    copy(ring, count, plain, nowNanos);
    sink.writeCompressed(plain);
  }
}
