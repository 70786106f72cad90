package io.eventbus.server.admin;

import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.config.HostHeader;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Guard against requests that a web page made through DNS rebinding: the page's own host name
 * resolves to this machine, so the browser lets it talk to this port, but the Host header still
 * carries the page's name. Names have to be configured; an address cannot be rebound, so beyond
 * loopback every one will do.
 */
final class HostGuard {
  private final String configured;
  private final List<String> names;
  private final boolean loopback;

  HostGuard(AdminConfig config, InetAddress bound) {
    this.configured = config.host().toLowerCase(Locale.ROOT);
    this.names = config.allowedHosts().stream().map(n -> n.toLowerCase(Locale.ROOT)).toList();
    this.loopback = bound.isLoopbackAddress();
  }

  boolean allows(@Nullable String header) {
    if (names.contains("*")) {
      return true;
    }
    if (header == null) {
      return false;
    }
    HostHeader named = HostHeader.of(header);
    return named.isLoopback()
        || (!loopback && named.isAddress())
        || named.host().equals(configured)
        || names.contains(named.host());
  }
}
