package io.eventbus.server.subscription;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Subscriber;

/**
 * Peer as the index sees it, in place of its subscribers. Frames do not go to it directly but as a
 * {@code RemotePlan} says.
 */
public interface RemoteBus extends Subscriber {
  @Override
  default int loop() {
    return 0;
  }

  @Override
  default void offer(Delivery delivery, Overflow overflow) {
    throw new IllegalStateException("a bus is reached by a plan only");
  }

  @Override
  default boolean isFull() {
    return false;
  }

  @Override
  default boolean isCrowded() {
    return false;
  }

  @Override
  default void whenNotFull(Runnable retry) {
    retry.run();
  }
}
