package io.eventbus.registry;

import java.net.InetSocketAddress;

/**
 * Address of a port of a bus.
 *
 * @param host a DNS name or an IP address, without brackets, at most 253 characters
 * @param port 1 to 65535
 */
public record Endpoint(String host, int port) {
  private static final int MAX_HOST = 253;

  /**
   * Checks the address; it is not looked up.
   *
   * @param host as above
   * @param port as above
   * @throws IllegalArgumentException if the host or the port is illegal, saying why
   */
  public Endpoint {
    if (host.isEmpty() || host.length() > MAX_HOST) {
      throw RegistryChecks.illegal("host", host, "1 to " + MAX_HOST + " characters");
    }
    for (int i = 0; i < host.length(); i++) {
      char c = host.charAt(i);
      if (!RegistryChecks.isLetterOrDigit(c) && ".-_:%".indexOf(c) < 0) {
        throw RegistryChecks.illegal("host", host, "a DNS name or an IP address without brackets");
      }
    }
    RegistryChecks.range("port", port, 1, 65_535);
  }

  /**
   * Returns the address for a connection; the name is looked up when it is opened.
   *
   * @return the unresolved address
   */
  public InetSocketAddress unresolved() {
    return InetSocketAddress.createUnresolved(host, port);
  }

  /** Returns {@code host:port}, with brackets around an IPv6 address. */
  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
