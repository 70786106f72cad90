package io.eventbus.registry.local;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Clock that a test sets, and that tells it when it is asked. */
final class SettableClock extends Clock {
  private volatile long millis;
  private volatile Runnable whenAsked = () -> {};

  SettableClock(long millis) {
    this.millis = millis;
  }

  void set(long newMillis) {
    millis = newMillis;
  }

  void whenAsked(Runnable action) {
    whenAsked = action;
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }

  @Override
  public long millis() {
    whenAsked.run();
    return millis;
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis);
  }
}
