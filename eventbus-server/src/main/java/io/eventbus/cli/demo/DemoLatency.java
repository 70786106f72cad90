package io.eventbus.cli.demo;

import io.eventbus.client.ReceivedEvent;
import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Latency of the two legs of an event, from the two timestamps that it carries. All clocks are this
 * machine's. Safe for use by several threads.
 */
final class DemoLatency {
  private static final long MAX_MICROS = TimeUnit.MINUTES.toMicros(1);

  private final Clock clock;
  private volatile boolean warm;
  private final Recorder toBus = new Recorder(MAX_MICROS, 3);
  private final Recorder fromBus = new Recorder(MAX_MICROS, 3);
  private final Histogram toBusTotal = new Histogram(MAX_MICROS, 3);
  private final Histogram fromBusTotal = new Histogram(MAX_MICROS, 3);

  DemoLatency(Clock clock) {
    this.clock = clock;
  }

  /**
   * Drops what was recorded so far: a JVM that has just started interprets its code, which says
   * little about the bus.
   */
  synchronized void startOver() {
    legs();
    toBusTotal.reset();
    fromBusTotal.reset();
    warm = true;
  }

  boolean warm() {
    return warm;
  }

  void record(ReceivedEvent event) {
    Instant now = clock.instant();
    long micros =
        Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000L), now.getNano() / 1_000);
    toBus.recordValue(inRange(event.receivedAtMicros() - event.publishedAtMicros()));
    fromBus.recordValue(inRange(micros - event.receivedAtMicros()));
  }

  synchronized Legs legs() {
    toBusTotal.add(toBus.getIntervalHistogram());
    fromBusTotal.add(fromBus.getIntervalHistogram());
    return new Legs(Leg.of(toBusTotal), Leg.of(fromBusTotal));
  }

  /** Bounds a latency: clocks may step, and a histogram takes no negative values. */
  private static long inRange(long micros) {
    return Math.min(Math.max(micros, 0), MAX_MICROS);
  }

  /** Both legs. */
  record Legs(Leg toBus, Leg fromBus) {}

  /** Leg of an event, in milliseconds. */
  record Leg(double p50, double p99, double max) {
    static Leg of(Histogram micros) {
      return new Leg(
          micros.getValueAtPercentile(50) / 1e3,
          micros.getValueAtPercentile(99) / 1e3,
          micros.getMaxValue() / 1e3);
    }
  }
}
