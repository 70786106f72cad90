package io.eventbus.registry;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Addresses of one bus, one for each kind of visitor.
 *
 * @param clients WebSocket URLs for clients, the preferred one first: 1 to 8, {@code ws} or {@code
 *     wss}, each at most 255 bytes, ASCII only
 * @param peers the address for other buses; null if this bus accepts no links
 * @param administration the address for operators; null if that port is off
 * @param raft the address of the consensus engine; null for a bus that runs alone
 */
public record BusAddresses(
    List<String> clients,
    @Nullable Endpoint peers,
    @Nullable Endpoint administration,
    @Nullable Endpoint raft) {
  private static final int MAX_CLIENT_URLS = 8;
  private static final int MAX_URL_BYTES = 255;

  /**
   * Checks and copies the addresses.
   *
   * @param clients as above
   * @param peers as above
   * @param administration as above
   * @param raft as above
   * @throws IllegalArgumentException if a URL is illegal or there are too few or too many
   */
  public BusAddresses {
    RegistryChecks.range("clients.size", clients.size(), 1, MAX_CLIENT_URLS);
    clients = List.copyOf(clients);
    clients.forEach(BusAddresses::checkUrl);
  }

  private static void checkUrl(String url) {
    RegistryChecks.text("clients", url, 1, MAX_URL_BYTES);
    if (url.chars().anyMatch(c -> c > 0x7E)) {
      // The result of java.net.URI for other characters depends on the Java version.
      throw RegistryChecks.illegal("clients", url, "ASCII only");
    }
    try {
      URI uri = new URI(url);
      boolean scheme = "ws".equals(uri.getScheme()) || "wss".equals(uri.getScheme());
      if (scheme && uri.getHost() != null && uri.getUserInfo() == null) {
        return;
      }
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          "clients: " + RegistryChecks.quote(url) + " is not a URL", e);
    }
    throw RegistryChecks.illegal("clients", url, "ws://host:port/path or wss://host:port/path");
  }
}
