package io.eventbus.server.samples;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/** Time of day that a test sets. Any thread. */
public final class TestClock extends Clock {
  private final AtomicLong millis;

  public TestClock(long millis) {
    this.millis = new AtomicLong(millis);
  }

  /** Advances the time. */
  public void advance(long byMillis) {
    millis.addAndGet(byMillis);
  }

  @Override
  public long millis() {
    return millis.get();
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis.get());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }
}
