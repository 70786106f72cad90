package io.eventbus.cli.demo;

import io.eventbus.client.ReceivedEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Cost of a move for one subscriber: the longest time that an event took from its publisher to the
 * subscriber's handler, of those that came in the half second (at most a second) before the move
 * was reported, or in the half second after. Safe for use by several threads: events come on one,
 * moves on another.
 */
final class DemoPause {
  private static final long REACH_NANOS = Duration.ofMillis(500).toNanos();

  private final LongConsumer pauses;
  private long slotBegan;
  private long longestInSlot;
  private long longestBefore;
  private boolean open;
  private long changedAt;
  private long longest;

  /** Creates a measure that reports the pause of each move to {@code pauses}, in microseconds. */
  DemoPause(LongConsumer pauses) {
    this.pauses = pauses;
  }

  void event(ReceivedEvent event) {
    Instant now = Instant.now();
    long micros = TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1_000;
    event(Math.max(0, micros - event.publishedAtMicros()), System.nanoTime());
  }

  synchronized void event(long delayMicros, long nowNanos) {
    roll(nowNanos);
    longestInSlot = Math.max(longestInSlot, delayMicros);
    if (open) {
      if (nowNanos - changedAt > REACH_NANOS) {
        finish();
      } else {
        longest = Math.max(longest, delayMicros);
      }
    }
  }

  /** Notes that the client continues at another bus. */
  synchronized void changed(long nowNanos) {
    finish();
    roll(nowNanos);
    open = true;
    changedAt = nowNanos;
    longest = Math.max(longestInSlot, longestBefore);
  }

  /** Reports the last move, after which perhaps no event came. */
  synchronized void finish() {
    // A subscriber without an event has seen no pause.
    if (open && longest > 0) {
      pauses.accept(longest);
    }
    open = false;
  }

  private void roll(long nowNanos) {
    long passed = nowNanos - slotBegan;
    if (passed >= REACH_NANOS) {
      longestBefore = passed < 2 * REACH_NANOS ? longestInSlot : 0;
      longestInSlot = 0;
      slotBegan = nowNanos;
    }
  }
}
