package io.eventbus.cli.client;

import io.eventbus.client.Start;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;

/** First event of a consumer, as the option {@code --from} names it. */
final class StartOption {
  private static final Map<String, Start> FIXED =
      Map.of("first", Start.FIRST, "new", Start.NEW, "latest-values", Start.LATEST_VALUES);

  private StartOption() {}

  /**
   * Reads the option.
   *
   * @throws IllegalArgumentException if it is none
   */
  static Start parse(String text) {
    Start fixed = FIXED.get(text);
    if (fixed != null) {
      return fixed;
    }
    try {
      if (text.startsWith("position:")) {
        return Start.position(Long.parseLong(text.substring("position:".length())));
      }
      if (text.startsWith("time:")) {
        return Start.time(Instant.parse(text.substring("time:".length())));
      }
    } catch (IllegalArgumentException | DateTimeException e) {
      // Told below.
    }
    throw new IllegalArgumentException(
        "--from: "
            + text
            + " (expected: first, new, latest-values, position:N or time:2026-01-31T12:00:00Z)");
  }
}
