package io.eventbus.server.config;

import java.util.List;

/**
 * The administration port.
 *
 * @param enabled whether there is one
 * @param host address to bind to
 * @param port TCP port, 0 for a free one
 * @param allowedHosts further names that it answers to; "*" for all
 */
public record AdminConfig(boolean enabled, String host, int port, List<String> allowedHosts) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param enabled whether there is one
   * @param host address to bind to
   * @param port TCP port, 0 for a free one
   * @param allowedHosts further names that it answers to; "*" for all
   * @throws IllegalArgumentException if a value is out of range
   */
  public AdminConfig {
    TextCheck.host(ConfigKey.ADMIN_HOST, host);
    ConfigKey.ADMIN_PORT.inRange(port);
    allowedHosts = List.copyOf(allowedHosts);
    allowedHosts.forEach(name -> TextCheck.hostName(ConfigKey.ADMIN_ALLOWED_HOSTS, name));
  }
}
