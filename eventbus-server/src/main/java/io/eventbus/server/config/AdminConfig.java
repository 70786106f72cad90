package io.eventbus.server.config;

import java.util.List;

/**
 * The administration port.
 *
 * @param enabled whether there is one
 * @param host address to bind to
 * @param port TCP port, 0 for a free one
 * @param allowedHosts further names that it answers to; "*" for all
 * @param access who may use it
 */
public record AdminConfig(
    boolean enabled, String host, int port, List<String> allowedHosts, AdminAccessConfig access) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param enabled whether there is one
   * @param host address to bind to
   * @param port TCP port, 0 for a free one
   * @param allowedHosts further names that it answers to; "*" for all
   * @param access who may use it
   * @throws IllegalArgumentException if a value is out of range, or strangers could reach a port
   *     that asks for no login, or is not encrypted
   */
  public AdminConfig {
    TextCheck.host(ConfigKey.ADMIN_HOST, host);
    ConfigKey.ADMIN_PORT.inRange(port);
    allowedHosts = List.copyOf(allowedHosts);
    allowedHosts.forEach(name -> TextCheck.hostName(ConfigKey.ADMIN_ALLOWED_HOSTS, name));
    if (enabled && !HostPort.isLoopback(host)) {
      keepStrangersOut(host, access);
    }
    if (access.auth() == AdminAuth.REQUIRED && !access.token().isSet()) {
      throw new IllegalArgumentException(
          "admin.auth: required (expected: admin.token-file or admin.token as well, to log in with)");
    }
  }

  private static void keepStrangersOut(String host, AdminAccessConfig access) {
    String missing =
        !access.token().isSet()
            ? "admin.token-file, so that not everybody who reaches it administers this bus"
            : !access.encrypted() && !access.plaintext()
                ? "admin.tls-certificate and admin.tls-key, so that the token cannot be read on the"
                    + " way; where something else encrypts, admin.plaintext=true"
                : "";
    if (!missing.isEmpty()) {
      throw new IllegalArgumentException(
          "admin.host: \""
              + host
              + "\" (expected: 127.0.0.1 or another loopback address; or "
              + missing
              + ")");
    }
  }

  /**
   * Returns a copy with another port.
   *
   * @param bound the one that is bound where 0 was configured
   * @return the copy
   */
  AdminConfig withPort(int bound) {
    return new AdminConfig(enabled, host, bound, allowedHosts, access);
  }

  /**
   * Whether operators have to say who they are.
   *
   * @return false where everybody who reaches the port may do everything
   */
  public boolean loginNeeded() {
    return access.auth() == AdminAuth.REQUIRED
        || access.token().isSet()
        || !HostPort.isLoopback(host);
  }
}
