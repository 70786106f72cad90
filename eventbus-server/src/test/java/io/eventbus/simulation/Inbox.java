package io.eventbus.simulation;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.samples.SampleFrames;
import java.util.HashMap;
import java.util.Map;

/** Subscribers of a bus: counts how often each event of each producer came. */
final class Inbox implements Subscriber {
  /** Event that came. */
  record Event(String topic, long producer, long sequence) {}

  private final Map<Event, Integer> got = new HashMap<>();
  private final Map<Long, Long> newest = new HashMap<>();
  private long reordered;

  int times(String topic, long producer, long sequence) {
    return got.getOrDefault(new Event(topic, producer, sequence), 0);
  }

  /** Returns the number of all events, repetitions included. */
  long total() {
    return got.values().stream().mapToLong(Integer::longValue).sum();
  }

  /** Returns the number of first copies that came after a later event of their producer. */
  long reordered() {
    return reordered;
  }

  @Override
  public void offer(Delivery delivery, Overflow overflow) {
    SampleFrames.Delivered frame = SampleFrames.read(delivery);
    int times =
        got.merge(new Event(frame.topic(), frame.producer(), frame.sequence()), 1, Integer::sum);
    long before = newest.getOrDefault(frame.producer(), 0L);
    if (times == 1 && frame.sequence() < before) {
      reordered++;
    }
    newest.put(frame.producer(), Math.max(before, frame.sequence()));
  }

  @Override
  public int loop() {
    return 0;
  }

  @Override
  public boolean isFull() {
    return false;
  }

  @Override
  public boolean isCrowded() {
    return false;
  }

  @Override
  public void whenNotFull(Runnable retry) {
    retry.run();
  }
}
