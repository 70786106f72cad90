package io.eventbus.server.config;

import java.util.List;

/**
 * Port for clients.
 *
 * @param host address to bind to
 * @param port TCP port, 0 for a free one
 * @param path path of the WebSocket endpoint
 * @param eventLoops threads that serve connections, 0 for one on each core
 * @param transport socket implementation
 * @param backlog connections that may wait to be accepted
 * @param maxConnections open client connections
 * @param allowedOrigins sites whose pages may connect besides the bus's own; "*" for all
 * @param browserBlock whether pages may stall publishers
 * @param proxies addresses and networks of proxies, whose word on a client's address is taken
 */
public record ListenConfig(
    String host,
    int port,
    String path,
    int eventLoops,
    TransportType transport,
    int backlog,
    int maxConnections,
    List<String> allowedOrigins,
    BrowserBlock browserBlock,
    List<String> proxies) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param host address to bind to
   * @param port TCP port, 0 for a free one
   * @param path path of the WebSocket endpoint
   * @param eventLoops threads that serve connections, 0 for one on each core
   * @param transport socket implementation
   * @param backlog connections that may wait to be accepted
   * @param maxConnections open client connections
   * @param allowedOrigins sites whose pages may connect besides the bus's own; "*" for all
   * @param browserBlock whether pages may stall publishers
   * @param proxies addresses and networks of proxies, whose word on a client's address is taken
   * @throws IllegalArgumentException if a value is out of range
   */
  public ListenConfig {
    TextCheck.host(ConfigKey.LISTEN_HOST, host);
    ConfigKey.LISTEN_PORT.inRange(port);
    TextCheck.urlPath(ConfigKey.LISTEN_PATH, path);
    ConfigKey.LISTEN_EVENT_LOOPS.inRange(eventLoops);
    ConfigKey.LISTEN_BACKLOG.inRange(backlog);
    ConfigKey.LISTEN_MAX_CONNECTIONS.inRange(maxConnections);
    allowedOrigins = List.copyOf(allowedOrigins);
    proxies = List.copyOf(proxies);
    proxies.forEach(network -> TextCheck.network(ConfigKey.LISTEN_PROXIES, network));
    allowedOrigins.forEach(origin -> TextCheck.origin(ConfigKey.LISTEN_ALLOWED_ORIGINS, origin));
  }
}
