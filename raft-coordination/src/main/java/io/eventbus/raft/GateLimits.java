package io.eventbus.raft;

/**
 * Bounds of the {@link CommandBatcher}.
 *
 * @param maxEntriesUnderWay the maximum number of log entries that are unfinished at a time, 1 to
 *     1,024; default 3; an entry that is not full goes only while no other one is under way, as it
 *     costs every voter about ten changes of threads, however many commands it has
 * @param maxBatchBytes the maximum bytes in one entry, unless one command has more, 1,024 to
 *     1,048,576; default 256 KiB
 * @param maxQueuedBytes the maximum bytes of commands that wait, 4,096 to 1,073,741,824; default 8
 *     MiB
 */
public record GateLimits(
    int maxEntriesUnderWay,
    int maxBatchCommands,
    int maxBatchBytes,
    int maxQueuedCommands,
    long maxQueuedBytes) {
  /** Limits with all defaults. */
  public static final GateLimits DEFAULT = new GateLimits(3, 256, 256 << 10, 10_000, 8L << 20);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public GateLimits {
    check("maxEntriesUnderWay", maxEntriesUnderWay, 1, 1_024);
    check("maxBatchCommands", maxBatchCommands, 1, 4_096);
    check("maxBatchBytes", maxBatchBytes, 1_024, 1L << 20);
    check("maxQueuedCommands", maxQueuedCommands, 1, 1_000_000);
    check("maxQueuedBytes", maxQueuedBytes, 4_096, 1L << 30);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
