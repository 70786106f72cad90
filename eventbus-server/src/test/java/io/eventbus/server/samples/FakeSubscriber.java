package io.eventbus.server.samples;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.memory.WakeupList;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Subscriber that notes offered deliveries and keeps nothing. */
public class FakeSubscriber implements Subscriber {
  /** Offered deliveries, in order. */
  public final List<SampleFrames.Delivered> got = new ArrayList<>();

  /** Policies of the deliveries. */
  public final List<Overflow> policies = new ArrayList<>();

  private final WakeupList waiters = new WakeupList();
  private final int loop;
  private volatile boolean full;
  private volatile boolean crowded;
  private volatile boolean starving;

  /** Time for which it was charged with stalls. */
  public long heldNanos;

  /** Error that it throws instead of taking a delivery; null for none. */
  public @Nullable Error failure;

  /** Number of events that it could not take. */
  public int failed;

  /** Creates a subscriber of a loop. */
  public FakeSubscriber(int loop) {
    this.loop = loop;
  }

  /** Fills or empties the queue. */
  public void full(boolean now) {
    full = now;
    if (!now) {
      waiters.wake();
    }
  }

  /** Fills more than half of the queue, or less. */
  public void crowded(boolean now) {
    crowded = now;
  }

  /** Sets whether there was nothing to read lately. */
  public void starving(boolean now) {
    starving = now;
  }

  @Override
  public boolean isStarving() {
    return starving;
  }

  @Override
  public void chargeStall(long nanos) {
    heldNanos += nanos;
  }

  @Override
  public int loop() {
    return loop;
  }

  @Override
  public void offer(Delivery delivery, Overflow overflow) {
    if (failure != null) {
      throw failure;
    }
    got.add(SampleFrames.read(delivery));
    policies.add(overflow);
  }

  @Override
  public void failed(Delivery delivery) {
    failed += delivery.events();
  }

  @Override
  public boolean isCrowded() {
    return full || crowded;
  }

  @Override
  public boolean isFull() {
    return full;
  }

  @Override
  public void whenNotFull(Runnable retry) {
    waiters.add(retry);
    if (!full) {
      waiters.wake();
    }
  }
}
