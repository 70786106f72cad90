package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/** What one slot sees during a phase. For one thread at a time. */
final class SlotRecorder {
  private static final int DIGITS = 3;
  private static final long LATE_NANOS = CoordinationClient.DEADLINE.toNanos();

  final Histogram nanos = new Histogram(DIGITS);
  final Map<String, Long> errors = new TreeMap<>();
  private final Timeline timeline;
  private final long endNanos;
  private long lastSuccess;
  private long longestNanos;
  private long conflicts;
  private long late;

  SlotRecorder(Timeline timeline, long startNanos, long endNanos) {
    this.timeline = timeline;
    this.endNanos = endNanos;
    this.lastSuccess = startNanos;
  }

  boolean isOver(long now) {
    return now - endNanos >= 0;
  }

  void success(long begun, long now) {
    if (now - begun > LATE_NANOS) {
      late++;
    }
    if (isOver(now)) {
      return;
    }
    nanos.recordValue(Math.max(0, now - begun));
    timeline.success(now);
    longestNanos = Math.max(longestNanos, now - lastSuccess);
    lastSuccess = now;
  }

  void error(String kind) {
    errors.merge(kind, 1L, Long::sum);
  }

  void conflict() {
    conflicts++;
  }

  /** How many operations took longer than any one attempt may, or were not done by the end. */
  long late() {
    return late;
  }

  /** The phase is over and the last operation was not done. */
  void unfinished(long begun, long now) {
    if (now - begun > LATE_NANOS) {
      late++;
    }
  }

  long conflicts() {
    return conflicts;
  }

  /** The longest time without a success, the end of the phase included. */
  long longestNanos() {
    return Math.max(longestNanos, endNanos - lastSuccess);
  }
}
