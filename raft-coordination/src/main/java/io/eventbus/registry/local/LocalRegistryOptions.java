package io.eventbus.registry.local;

import io.eventbus.registry.state.RegistryLimits;
import java.util.Objects;

/**
 * Bounds of a {@link LocalRegistry}.
 *
 * @param firstBusNumber the number for the first bus, from 1; default 1. This registry forgets all
 *     numbers when the process ends; if numbers outlive the process, begin elsewhere each time
 * @param maxQueuedBytes the maximum bytes of commands that wait, 4,096 to 1,073,741,824; default 8
 *     MiB
 */
public record LocalRegistryOptions(
    RegistryLimits limits,
    int firstBusNumber,
    int maxQueuedCommands,
    long maxQueuedBytes,
    int maxListeners) {
  /** Options with all defaults. */
  public static final LocalRegistryOptions DEFAULT =
      new LocalRegistryOptions(RegistryLimits.DEFAULT, 1, 10_000, 8L << 20, 256);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public LocalRegistryOptions {
    Objects.requireNonNull(limits, "limits");
    check("firstBusNumber", firstBusNumber, 1, Integer.MAX_VALUE);
    check("maxQueuedCommands", maxQueuedCommands, 1, 1_000_000);
    check("maxQueuedBytes", maxQueuedBytes, 4_096, 1L << 30);
    check("maxListeners", maxListeners, 1, 10_000);
  }

  /**
   * Returns a copy that begins with another number.
   *
   * @throws IllegalArgumentException if the number is not positive
   */
  public LocalRegistryOptions withFirstBusNumber(int number) {
    return new LocalRegistryOptions(
        limits, number, maxQueuedCommands, maxQueuedBytes, maxListeners);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
