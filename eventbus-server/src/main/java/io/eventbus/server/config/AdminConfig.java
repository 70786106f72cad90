package io.eventbus.server.config;

import java.util.List;

/**
 * Administration port.
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
   * @throws IllegalArgumentException if a value is out of range
   */
  public AdminConfig {
    TextCheck.host(ConfigKey.ADMIN_HOST, host);
    ConfigKey.ADMIN_PORT.inRange(port);
    allowedHosts = List.copyOf(allowedHosts);
    allowedHosts.forEach(name -> TextCheck.hostName(ConfigKey.ADMIN_ALLOWED_HOSTS, name));
  }

  /**
   * Checks that strangers are kept out.
   *
   * @param vouched whether users or tokens prove which account they are of
   * @throws IllegalArgumentException if other machines can reach a port that asks for no login or
   *     is not encrypted, or there is no way to log in where it is required
   */
  void check(boolean vouched) {
    boolean canLogIn = access.token().isSet() || (access.account() != null && vouched);
    String login = "admin.token-file, or admin.account with auth.users-file or auth.jwt.…";
    if (access.auth() == AdminAuth.REQUIRED && !canLogIn) {
      throw new IllegalArgumentException(
          "admin.auth: required (expected: " + login + ", to log in with)");
    }
    if (!enabled || HostPort.isLoopback(host)) {
      return;
    }
    String missing =
        !canLogIn
            ? login + ", so that not everybody who reaches it administers this bus"
            : !access.encrypted() && !access.plaintext()
                ? "admin.tls-certificate and admin.tls-key, so that tokens cannot be read on the"
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
   * Returns whether operators have to log in.
   *
   * @return false where everybody who reaches the port may do everything
   */
  public boolean loginNeeded() {
    return access.auth() == AdminAuth.REQUIRED
        || access.token().isSet()
        || !HostPort.isLoopback(host);
  }
}
