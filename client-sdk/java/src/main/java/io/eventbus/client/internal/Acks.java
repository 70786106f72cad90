package io.eventbus.client.internal;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * What has been handled and not acknowledged yet: one entry for each topic and producer, however
 * many events. Any thread may add; the conductor sends.
 */
final class Acks {
  // Holds each pair at most once, and so no more than are tracked.
  private final Queue<ProducerState> dirty = new ConcurrentLinkedQueue<>();

  void handled(Delivery delivery) {
    handled(delivery.origin, delivery.lastSequence());
  }

  void handled(ProducerState origin, long sequence) {
    if (origin.handled(sequence)) {
      dirty.add(origin);
    }
  }

  /** Makes the frames for what was handled since the last call. */
  void drain(Consumer<byte[]> frames) {
    for (ProducerState pair = dirty.poll(); pair != null; pair = dirty.poll()) {
      long sequence = pair.takeHandled();
      frames.accept(
          ControlFrames.encode(TypeCode.ACK, new Ack(pair.topic.name, pair.producer, sequence)));
    }
  }
}
