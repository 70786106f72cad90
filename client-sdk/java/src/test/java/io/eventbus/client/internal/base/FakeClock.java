package io.eventbus.client.internal.base;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Clock that stands still until a test moves it. */
public final class FakeClock implements MicroClock {
  private final AtomicLong nanos = new AtomicLong(1_000_000_000L);

  @Override
  public long nanoTime() {
    return nanos.get();
  }

  @Override
  public long epochMicros() {
    return nanos.get() / 1_000;
  }

  public void advance(Duration duration) {
    nanos.addAndGet(duration.toNanos());
  }
}
