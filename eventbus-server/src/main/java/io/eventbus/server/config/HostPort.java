package io.eventbus.server.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Host and port.
 *
 * @param host a name or an IP address, without brackets
 * @param port TCP port; 0 where none was given
 */
public record HostPort(String host, int port) {
  private static final Pattern TEXT =
      Pattern.compile(
          "(?:\\[([0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9._-]{1,32})?)]|([A-Za-z0-9._-]{1,253}))"
              + "(?::(\\d{1,5}))?");

  /**
   * Checks the port.
   *
   * @param host a name or an IP address, without brackets
   * @param port TCP port; 0 where none was given
   * @throws IllegalArgumentException if the host is empty or the port is out of range
   */
  public HostPort {
    if (host.isEmpty() || port < 0 || port > 65_535) {
      throw new IllegalArgumentException(host + ":" + port + " (expected: a host, 0 to 65535)");
    }
  }

  /**
   * Parses {@code host}, {@code host:port} or {@code [address]:port}.
   *
   * @throws IllegalArgumentException if the text is neither, or has no port and must have one
   */
  static HostPort read(ConfigKey key, String text, boolean portNeeded) {
    Matcher matcher = TEXT.matcher(text);
    if (matcher.matches()) {
      String host = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
      int port = matcher.group(3) == null ? 0 : Integer.parseInt(matcher.group(3));
      boolean given = matcher.group(3) != null;
      if (port <= 65_535 && (given ? port > 0 : !portNeeded)) {
        return new HostPort(host, port);
      }
    }
    throw new IllegalArgumentException(
        key.key() + ": \"" + text + "\" (expected: " + key.type().expectation() + ")");
  }

  /**
   * Returns whether the host can only be this machine.
   *
   * @return true for localhost and loopback addresses
   */
  public boolean isLoopback() {
    return isLoopback(host);
  }

  static boolean isLoopback(String host) {
    return HostHeader.of(host.indexOf(':') >= 0 ? "[" + host + "]" : host).isLoopback();
  }

  /** Returns {@code host:port}, with brackets around an IPv6 address, or the host alone. */
  @Override
  public String toString() {
    String shown = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    return port == 0 ? shown : shown + ":" + port;
  }
}
