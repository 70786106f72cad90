package io.eventbus.conformance.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Scenarios that a library is known to fail: they must fail, or the list is out of date. */
public final class KnownFailures {
  private final Map<String, String> reasons = new LinkedHashMap<>();

  /** Begins with no scenarios. */
  public KnownFailures() {}

  /**
   * Reads a list: on each line an id, a space and the reason; {@code #} begins a comment.
   *
   * @throws IllegalArgumentException if a line has no reason or names no scenario
   * @throws UncheckedIOException if it cannot be read
   */
  public static KnownFailures read(Path file, Set<String> ids) {
    KnownFailures known = new KnownFailures();
    try {
      for (String line : Files.readAllLines(file)) {
        String text = line.replaceAll("#.*", "").strip();
        if (!text.isEmpty()) {
          String[] parts = text.split("\\s+", 2);
          if (!ids.contains(parts[0]) || parts.length < 2) {
            throw new IllegalArgumentException(
                file + ": " + line + " (expected: the id of a scenario, and why it fails)");
          }
          known.reasons.put(parts[0], parts[1]);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(file + " cannot be read", e);
    }
    return known;
  }

  /**
   * Returns whether a scenario is on the list.
   *
   * @return true if it has to fail
   */
  public boolean has(String id) {
    return reasons.containsKey(id);
  }

  /**
   * Returns the reason why a scenario fails.
   *
   * @return the reason; empty for a scenario that is not on the list
   */
  public String reason(String id) {
    return reasons.getOrDefault(id, "");
  }
}
