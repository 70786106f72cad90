package io.eventbus.server.cluster;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.Endpoint;
import io.eventbus.server.config.HostPort;
import io.eventbus.server.config.ServerConfig;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Addresses at which this bus is reached, as it announces them. */
final class SeedAddresses {
  /** Bind addresses with which a port is reached at every address of the machine. */
  private static final Set<String> ALL = Set.of("0.0.0.0", "::", "0:0:0:0:0:0:0:0");

  private final ServerConfig config;
  private final String advertisedHost;

  SeedAddresses(ServerConfig config, String advertisedHost) {
    this.config = config;
    this.advertisedHost = advertisedHost;
  }

  static boolean isAll(String host) {
    return ALL.contains(host);
  }

  BusAddresses describe(InetSocketAddress clients, int adminPort, @Nullable Endpoint links) {
    return new BusAddresses(clients(clients), links, administration(adminPort), links);
  }

  private List<String> clients(InetSocketAddress bound) {
    List<String> configured = config.cluster().clientUrls();
    if (!configured.isEmpty()) {
      return configured;
    }
    boolean all = bound.getAddress().isAnyLocalAddress();
    String url = url(all ? advertisedHost : config.listen().host(), bound.getPort());
    // The system may know names that are illegal in a URL.
    return List.of(
        all || URI.create(url).getHost() != null
            ? url
            : url(bound.getAddress().getHostAddress(), bound.getPort()));
  }

  private String url(String host, int port) {
    String scheme = config.tls().enabled() ? "wss://" : "ws://";
    return scheme + new HostPort(host, port) + config.listen().path();
  }

  /**
   * Returns the address of the administration; null if only this machine reaches it and others are
   * elsewhere.
   */
  private @Nullable Endpoint administration(int port) {
    if (port < 0) {
      return null;
    }
    String host = reached(config.admin().host());
    boolean elsewhere =
        !new HostPort(advertisedHost, 0).isLoopback() && new HostPort(host, 0).isLoopback();
    return elsewhere ? null : new Endpoint(host, port);
  }

  private String reached(String bound) {
    return isAll(bound) ? advertisedHost : bound;
  }
}
