package io.eventbus.cli.bench;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Reporter of each second's published and delivered events. For one thread. */
final class EachSecond {
  private static final double SECOND = TimeUnit.SECONDS.toNanos(1);

  private final BenchProgress progress;
  private final long warmUp;
  private long start;
  private long toldAt;
  private long published;
  private long delivered;

  EachSecond(BenchProgress progress, Duration warmUp) {
    this.progress = progress;
    this.warmUp = warmUp.toNanos();
  }

  /** Begins to count; times as {@link System#nanoTime} counts. */
  void begin(long now) {
    start = now;
    toldAt = now;
  }

  /**
   * Reports if a second has passed.
   *
   * @param nowDelivered counts deliveries so far; called once a second
   */
  void look(long now, long nowPublished, LongSupplier nowDelivered) {
    if (now - toldAt < SECOND) {
      return;
    }
    double seconds = (now - toldAt) / SECOND;
    long sum = nowDelivered.getAsLong();
    progress.second(
        now - start > warmUp,
        (now - start) / SECOND,
        (nowPublished - published) / seconds,
        (sum - delivered) / seconds);
    toldAt = now;
    published = nowPublished;
    delivered = sum;
  }
}
