package io.eventbus.server.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Storing of events.
 *
 * @param directory where the bus keeps them, or null for a bus that stores none
 * @param journals texts of the journals that are there after the start, for example {@code orders
 *     orders.> max-age=7d}
 * @param replaceAfter how long a bus of a cluster must have been away before its vote goes to
 *     another one
 */
public record DurableConfig(
    @Nullable Path directory, List<String> journals, Duration replaceAfter) {
  /**
   * Copies the list, and checks that there is a place for journals.
   *
   * @param directory not checked here
   * @param journals not checked here
   * @param replaceAfter in the range of its key
   * @throws IllegalArgumentException for journals without a directory
   */
  public DurableConfig {
    journals = List.copyOf(journals);
    ConfigKey.DURABLE_REPLACE_AFTER.inRange(replaceAfter);
    if (directory == null && !journals.isEmpty()) {
      throw new IllegalArgumentException(
          ConfigKey.DURABLE_JOURNALS.key()
              + ": \""
              + String.join(", ", journals)
              + "\" (expected: none without "
              + ConfigKey.DURABLE_DIRECTORY.key()
              + ")");
    }
  }
}
