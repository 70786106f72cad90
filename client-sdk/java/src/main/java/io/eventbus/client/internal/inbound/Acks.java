package io.eventbus.client.internal.inbound;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Events that are handled and not acknowledged yet: one entry for each topic and producer, however
 * many events. Any thread may add; the conductor sends.
 */
public final class Acks {
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private volatile Runnable onFirst = () -> {};
  // Holds each pair at most once, so no more than are tracked.
  private final Queue<ProducerState> dirty = new ConcurrentLinkedQueue<>();

  /**
   * Sets the task that runs when there is something to acknowledge; {@link #drain} has to follow.
   */
  public void onFirst(Runnable task) {
    onFirst = task;
  }

  void handled(InboundDelivery delivery) {
    handled(delivery.origin, delivery.lastSequence());
  }

  void handled(ProducerState origin, long sequence) {
    if (origin.handled(sequence)) {
      dirty.add(origin);
      if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
        onFirst.run();
      }
    }
  }

  /** Creates the frames for the events handled since the last call. */
  public void drain(Consumer<byte[]> frames) {
    // First: an entry that is added from now on runs the task again.
    scheduled.set(false);
    for (ProducerState pair = dirty.poll(); pair != null; pair = dirty.poll()) {
      long sequence = pair.takeHandled();
      frames.accept(
          ControlFrames.encode(TypeCode.ACK, new Ack(pair.topic.name, pair.producer, sequence)));
    }
  }
}
