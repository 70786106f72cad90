package io.eventbus.server.config;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Host of a request's {@code Host} header, without the port. A browser lets a page talk to its own
 * site, and the owner of a name can make it lead to any address (DNS rebinding): so a name proves
 * nothing, unless it is one that nobody can make lead elsewhere. Immutable.
 *
 * @param host in lower case, an IPv6 address without brackets; empty if it cannot be read
 */
public record HostHeader(String host) {
  private static final Pattern V4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
  private static final Pattern V6 = Pattern.compile("[0-9a-f:.]*:[0-9a-f:.]*");

  /**
   * Parses a header.
   *
   * @param header {@code name}, {@code name:port} or {@code [address]:port}
   * @return the host
   */
  public static HostHeader of(String header) {
    String lower = header.toLowerCase(Locale.ROOT);
    if (lower.startsWith("[")) {
      int end = lower.indexOf(']');
      return new HostHeader(end < 0 ? "" : lower.substring(1, end));
    }
    int colon = lower.indexOf(':');
    return new HostHeader(colon < 0 ? lower : lower.substring(0, colon));
  }

  /**
   * Returns whether it is an address, for which no name server is asked.
   *
   * @return true for one of IPv4 or IPv6
   */
  public boolean isAddress() {
    return V4.matcher(host).matches() || V6.matcher(host).matches();
  }

  /**
   * Returns whether it can only be this machine.
   *
   * @return true for localhost and loopback addresses
   */
  public boolean isLoopback() {
    return host.equals("localhost")
        || host.equals("::1")
        || (host.startsWith("127.") && V4.matcher(host).matches());
  }
}
