package io.eventbus.registry.state;

/**
 * Maximum sizes of a registry. The limits are part of the replicated state: they are set when a
 * registry is created and are the same on every bus.
 *
 * @param rememberedCommands minimum number of the last commands' results that are remembered for
 *     repetitions, at most twice as many: 1 to 1,048,576; default 32,768. While fewer other
 *     commands than this are applied between two attempts, a repetition gets the first result;
 *     after that it is refused
 */
public record RegistryLimits(int maxBuses, int maxTopics, int rememberedCommands) {
  /**
   * Maximum number of revocations: with the longest names they take some 20 MB. The same in every
   * registry and every version: buses with another limit would fork the replicated state.
   */
  public static final int MAX_REVOCATIONS = 10_000;

  /** Limits of 1,024 buses, 100,000 topic configurations, 32,768 remembered commands. */
  public static final RegistryLimits DEFAULT = new RegistryLimits(1_024, 100_000, 32_768);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException if a limit is out of its range
   */
  public RegistryLimits {
    check("maxBuses", maxBuses, 65_536);
    check("maxTopics", maxTopics, 10_000_000);
    check("rememberedCommands", rememberedCommands, 1_048_576);
  }

  private static void check(String name, int value, int max) {
    if (value < 1 || value > max) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: 1 to " + max + ")");
    }
  }
}
