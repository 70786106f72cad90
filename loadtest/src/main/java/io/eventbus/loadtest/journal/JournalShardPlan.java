package io.eventbus.loadtest.journal;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Load on a shard.
 *
 * @param journals number of journals that are published to in turn
 * @param frameEvents events of a publication
 * @param window events that are under way at a time
 * @param payloadBytes size of an event
 * @param rate events a second, 0 for as many as there can be
 * @param time time that is measured, after a tenth of it as warm-up
 * @param retainBytes bytes that each journal keeps
 * @param directory an empty one, or none yet
 */
public record JournalShardPlan(
    int journals,
    int frameEvents,
    int window,
    int payloadBytes,
    long rate,
    Duration time,
    long retainBytes,
    Path directory) {
  /** Checks the numbers. */
  public JournalShardPlan {
    check("--journals", journals, 1, 10_000);
    check("--frame", frameEvents, 1, 4_096);
    check("--window", window, frameEvents, 1 << 20);
    check("--payload", payloadBytes, 1, 8 << 10);
    check("--rate", rate, 0, 100_000_000);
    check("--seconds", time.toSeconds(), 1, 3_600);
    check("--retain", retainBytes, 1L << 20, 1L << 44);
  }

  private static void check(String option, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          option + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
