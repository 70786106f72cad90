package io.eventbus.server.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Audit log. Whether the file can be written shows when the bus starts.
 *
 * @param file where it is written, or null for none
 * @param maxBytes size of a file from which on another one is begun
 * @param files how many full ones are kept
 */
public record AuditConfig(@Nullable Path file, long maxBytes, int files) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param file where it is written, or null for none
   * @param maxBytes size of a file from which on another one is begun
   * @param files how many full ones are kept
   * @throws IllegalArgumentException if a value is out of range
   */
  public AuditConfig {
    // The writer of the file takes it for the beginning of a pattern.
    if (file != null && file.toString().indexOf('%') >= 0) {
      throw new IllegalArgumentException(
          ConfigKey.AUDIT_FILE.key()
              + ": \""
              + file
              + "\" (expected: a file without % in its path)");
    }
    ConfigKey.AUDIT_MAX_BYTES.inRange(maxBytes);
    ConfigKey.AUDIT_FILES.inRange(files);
  }
}
