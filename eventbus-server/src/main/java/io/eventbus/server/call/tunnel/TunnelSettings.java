package io.eventbus.server.call.tunnel;

/**
 * The bounds of streams and tunnels, from the configuration.
 *
 * @param bulkBytes what may wait for one connection, and what others may send it, in bytes as
 *     {@code Data} counts them
 * @param windowBytes how far a limit may be ahead of what was written
 */
public record TunnelSettings(int perConnection, long bulkBytes, int windowBytes) {
  /** How far a limit may be ahead at most, in bytes. */
  private static final int MAX_WINDOW_BYTES = 4 << 20;

  /**
   * Makes the settings of a bus.
   *
   * @param bulkBytes what may wait for one connection, in bytes
   * @return with a window of half of that, at most 4 MiB
   */
  public static TunnelSettings of(int perConnection, long bulkBytes) {
    return new TunnelSettings(
        perConnection, bulkBytes, (int) Math.min(MAX_WINDOW_BYTES, bulkBytes / 2));
  }

  /** What is always left for each, so that none waits for others. */
  long least() {
    return bulkBytes / 2 / perConnection;
  }

  /** What all together may have beyond that. */
  long shared() {
    return bulkBytes - least() * perConnection;
  }
}
