package io.eventbus.server.call.tunnel;

/**
 * Bounds of streams and tunnels from the configuration.
 *
 * @param bulkBytes maximum bytes that wait for one connection, and maximum credit of its senders,
 *     as {@code Data} counts them
 * @param windowBytes maximum distance of a limit from the written bytes
 */
public record TunnelSettings(int perConnection, long bulkBytes, int windowBytes) {
  /** Maximum distance of a limit from the written bytes. */
  private static final int MAX_WINDOW_BYTES = 4 << 20;

  /**
   * Creates the settings of a bus, with a window of half of the bytes, at most 4 MiB.
   *
   * @param bulkBytes maximum bytes that wait for one connection
   */
  public static TunnelSettings of(int perConnection, long bulkBytes) {
    return new TunnelSettings(
        perConnection, bulkBytes, (int) Math.min(MAX_WINDOW_BYTES, bulkBytes / 2));
  }

  /** Returns the minimum of each tunnel, so that none waits for others. */
  long minBytes() {
    return bulkBytes / 2 / perConnection;
  }

  /** Returns the bytes that all together may use in addition. */
  long shared() {
    return bulkBytes - minBytes() * perConnection;
  }
}
