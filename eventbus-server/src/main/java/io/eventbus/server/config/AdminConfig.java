package io.eventbus.server.config;

/**
 * The administration port.
 *
 * @param enabled whether there is one
 * @param host address to bind to
 * @param port TCP port, 0 for a free one
 */
public record AdminConfig(boolean enabled, String host, int port) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param enabled whether there is one
   * @param host address to bind to
   * @param port TCP port, 0 for a free one
   * @throws IllegalArgumentException if a value is out of range
   */
  public AdminConfig {
    TextCheck.host(ConfigKey.ADMIN_HOST, host);
    ConfigKey.ADMIN_PORT.inRange(port);
  }
}
