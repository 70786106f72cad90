package io.eventbus.server.admin;

import java.net.InetAddress;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests that a web page made through DNS rebinding: the page's own host name resolves to
 * this machine, so the browser lets it talk to a port that is bound to loopback, but the Host
 * header still carries the page's name. On other addresses the guard lets everything pass: there a
 * proxy decides.
 */
final class HostGuard {
  private static final Pattern LOOPBACK_V4 = Pattern.compile("127(\\.\\d{1,3}){3}");

  private final String configured;
  private final boolean active;

  HostGuard(String configured, InetAddress bound) {
    this.configured = configured.toLowerCase(Locale.ROOT);
    this.active = bound.isLoopbackAddress();
  }

  boolean allows(@Nullable String header) {
    if (!active) {
      return true;
    }
    if (header == null) {
      return false;
    }
    String host = name(header.toLowerCase(Locale.ROOT));
    return host.equals("localhost")
        || host.equals("::1")
        || host.equals(configured)
        || LOOPBACK_V4.matcher(host).matches();
  }

  /** The name in {@code name:port} or the address in {@code [address]:port}. */
  private static String name(String header) {
    if (header.startsWith("[")) {
      int end = header.indexOf(']');
      return end < 0 ? "" : header.substring(1, end);
    }
    int colon = header.indexOf(':');
    return colon < 0 ? header : header.substring(0, colon);
  }
}
