package io.eventbus.loadtest.jmh;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Subscriber;

/** A connection that is never full and keeps nothing: what is left is the cost of routing. */
final class IgnoringSubscriber implements Subscriber {
  private long events;

  @Override
  public int loop() {
    return 0;
  }

  @Override
  public void offer(Delivery delivery, Overflow overflow) {
    events += delivery.events();
  }

  @Override
  public boolean isCrowded() {
    return isFull();
  }

  @Override
  public boolean isFull() {
    return false;
  }

  @Override
  public void whenNotFull(Runnable retry) {
    throw new IllegalStateException("never full, after " + events + " events");
  }
}
