package io.eventbus.server.queue;

import io.eventbus.server.config.TimeoutsConfig;
import io.eventbus.server.config.ValueType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Detector of clients that read too slowly: while publishers wait for its full queue a client has
 * to take a part of it in each period, and its answers within one. A client that goes on reading
 * slows the publishers down and keeps the connection. Confined to the loop.
 */
final class SlowConsumerDetector {
  /** Divisor of a full queue that gives the minimum progress in each period: 128 KiB of 8 MiB. */
  private static final int MIN_PROGRESS = 64;

  private final Duration period;
  private final long periodNanos;
  private final long minBytes;
  private boolean full;
  private long since;
  private long written;
  private boolean answersWait;
  private long answersSince;

  SlowConsumerDetector(TimeoutsConfig timeouts, long bound) {
    period = timeouts.slowSubscriber();
    periodNanos = period.toNanos();
    minBytes = bound / MIN_PROGRESS;
  }

  /** Notes that the queue has become full. */
  void full(long nowNanos) {
    full = true;
    since = nowNanos;
    written = 0;
  }

  void noLongerFull() {
    full = false;
  }

  /** Notes bytes that the client has taken. */
  void wrote(long bytes) {
    written += bytes;
  }

  /** Notes that answers wait for the client, and its requests behind them. */
  void answersWait(long nowNanos) {
    if (!answersWait) {
      answersWait = true;
      answersSince = nowNanos;
    }
  }

  void answersTaken() {
    answersWait = false;
  }

  /** Returns why the client is too slow; null if it is not. */
  @Nullable String check(long nowNanos) {
    if (full && nowNanos - since > periodNanos) {
      if (written < minBytes) {
        return "it took " + written + " bytes in " + ValueType.time(period);
      }
      full(nowNanos);
    }
    if (answersWait && nowNanos - answersSince > periodNanos) {
      return "it has not read its answers for " + ValueType.time(period);
    }
    return null;
  }
}
