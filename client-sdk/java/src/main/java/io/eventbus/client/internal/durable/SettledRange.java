package io.eventbus.client.internal.durable;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * Neighbours of one {@code Feed} with the same outcome.
 *
 * @param first number of the first one in its feed
 * @param last number of the last one
 * @param from position of the first one
 * @param to position of the last one
 * @param delayMillis of RETRY; -1 for that of the bus
 */
record SettledRange(
    WorkerFeed feed,
    int first,
    int last,
    long from,
    long to,
    SettleOutcome outcome,
    int delayMillis,
    String reason) {
  /** Order in which neighbours stand together. */
  static final Comparator<SettledRange> ORDER =
      Comparator.<SettledRange>comparingLong(range -> range.feed.number)
          .thenComparingInt(SettledRange::first);

  /** Returns the number of its events, if it is not of those that were given back. */
  int events() {
    return last - first + 1;
  }

  /** Returns this with the range that follows it; null if they differ or are no neighbours. */
  @Nullable SettledRange with(SettledRange next) {
    boolean same =
        feed == next.feed
            && last + 1 == next.first
            && outcome == next.outcome
            && delayMillis == next.delayMillis
            && reason.equals(next.reason);
    return same
        ? new SettledRange(feed, first, next.last, from, next.to, outcome, delayMillis, reason)
        : null;
  }

  /** Encodes it. */
  byte[] frame(long consumer, boolean confirm, long creation) {
    return ControlFrames.encode(
        TypeCode.SETTLE,
        new Settle(
            consumer, to, confirm, creation, from, outcome, feed.attempt, delayMillis, reason));
  }

  /** Cuts a reason to the bytes that a frame may have, at a character. */
  static String cut(String reason) {
    int max = FrameLimits.MAX_REASON_BYTES;
    // A character more, so that no pair of surrogates is cut.
    byte[] bytes =
        reason.substring(0, Math.min(reason.length(), max + 1)).getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= max) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    int end = max;
    while ((bytes[end] & 0xC0) == 0x80) {
      end--;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }
}
