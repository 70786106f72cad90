package io.eventbus.loadtest.journal;

import java.nio.file.Path;
import java.util.Locale;

/**
 * Amount of what is written, and form in which it is stored.
 *
 * @param mode how chunks are stored
 * @param journals how many journals are written in turn
 * @param totalBytes bytes of events that are written
 * @param retainBytes bytes of events that are kept, of all journals together
 * @param payloadBytes size of an event
 * @param directory an empty one, or none yet
 */
public record JournalStorePlan(
    Mode mode, int journals, long totalBytes, long retainBytes, int payloadBytes, Path directory) {
  /** Ways to store chunks. */
  public enum Mode {
    /** Values of RocksDB in blob files, as the bus does. */
    BLOB,
    /** Values of RocksDB in its tables. */
    PLAIN,
    /** Files of our own. */
    SEGMENTS;

    /**
     * Returns the mode of a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Mode of(String name) {
      for (Mode mode : values()) {
        if (mode.name().toLowerCase(Locale.ROOT).equals(name)) {
          return mode;
        }
      }
      throw new IllegalArgumentException(
          "--mode: " + name + " (expected: blob, plain or segments)");
    }
  }

  /** Checks the numbers. */
  public JournalStorePlan {
    check("--journals", journals, 1, 10_000);
    check("--total", totalBytes, 1L << 20, 1L << 44);
    check("--retain", retainBytes, 1L << 20, totalBytes);
    check("--payload", payloadBytes, 1, 8 << 10);
  }

  private static void check(String option, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          option + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
