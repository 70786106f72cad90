package io.eventbus.server.queue;

import io.eventbus.server.config.TimeoutsConfig;
import io.eventbus.server.config.ValueType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether one client reads fast enough: while publishers wait for its full queue it has to take a
 * part of it in each period, and its answers within one. A client that goes on reading slows the
 * publishers down and keeps the connection. Confined to the loop.
 */
final class SlowConsumerDetector {
  /**
   * Of a full queue this part has to be taken in each period, or the client is too slow: 128 KiB of
   * 8 MiB.
   */
  private static final int MIN_PROGRESS = 64;

  private final Duration period;
  private final long periodNanos;
  private final long leastBytes;
  private boolean full;
  private long since;
  private long written;
  private boolean answersWait;
  private long answersSince;

  SlowConsumerDetector(TimeoutsConfig timeouts, long bound) {
    period = timeouts.slowSubscriber();
    periodNanos = period.toNanos();
    leastBytes = bound / MIN_PROGRESS;
  }

  /** The queue has become full. */
  void full(long nowNanos) {
    full = true;
    since = nowNanos;
    written = 0;
  }

  void noLongerFull() {
    full = false;
  }

  /** The client has taken bytes. */
  void wrote(long bytes) {
    written += bytes;
  }

  /** Answers wait for the client, and its requests for that. */
  void answersWait(long nowNanos) {
    if (!answersWait) {
      answersWait = true;
      answersSince = nowNanos;
    }
  }

  void answersTaken() {
    answersWait = false;
  }

  /** Says what is wrong with the client's pace; null for nothing. */
  @Nullable String check(long nowNanos) {
    if (full && nowNanos - since > periodNanos) {
      if (written < leastBytes) {
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
