package io.eventbus.server.config;

/**
 * Compression of WebSocket messages (permessage-deflate, RFC 7692).
 *
 * @param enabled whether the bus agrees to it when a client offers it
 * @param level deflate level, 1 (fast) to 9 (small)
 * @param minBytes smaller messages are sent as they are
 */
public record CompressionConfig(boolean enabled, int level, int minBytes) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param enabled whether the bus agrees to it when a client offers it
   * @param level deflate level, 1 (fast) to 9 (small)
   * @param minBytes smaller messages are sent as they are
   * @throws IllegalArgumentException if a value is out of range
   */
  public CompressionConfig {
    ConfigKey.COMPRESSION_LEVEL.inRange(level);
    ConfigKey.COMPRESSION_MIN_BYTES.inRange(minBytes);
  }
}
