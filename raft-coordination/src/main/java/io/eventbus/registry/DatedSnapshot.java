package io.eventbus.registry;

import java.time.Duration;
import java.util.Objects;

/**
 * Snapshot of this bus, with the age that it may have.
 *
 * @param snapshot the registry as this bus last heard of it
 * @param age the time since this bus last knew that it was up to date; never negative
 */
public record DatedSnapshot(RegistrySnapshot snapshot, Duration age) {
  /**
   * Checks the values.
   *
   * @param snapshot as above
   * @param age as above
   * @throws IllegalArgumentException if the age is negative
   */
  public DatedSnapshot {
    Objects.requireNonNull(snapshot, "snapshot");
    if (age.isNegative()) {
      throw new IllegalArgumentException("age: " + age + " (expected: >= 0)");
    }
  }
}
