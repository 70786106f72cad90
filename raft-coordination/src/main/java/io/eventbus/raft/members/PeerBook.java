package io.eventbus.raft.members;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Addresses at which the links of other buses listen. An address that a bus stated itself wins over
 * the one that a group's configuration remembers, so that a bus may come back with another address.
 * Any thread.
 */
public final class PeerBook {
  private final Map<String, InetSocketAddress> learned = new ConcurrentHashMap<>();
  private final Map<String, InetSocketAddress> configured = new ConcurrentHashMap<>();

  /** Notes the address that a bus states itself. */
  public void learn(String bus, InetSocketAddress address) {
    learned.put(bus, address);
  }

  /** Notes an address of the configuration; ignores one that cannot be read. */
  public void configure(String bus, @Nullable String address) {
    InetSocketAddress parsed = address == null ? null : parse(address);
    if (parsed != null) {
      configured.put(bus, parsed);
    }
  }

  /** Returns the address of a bus; null if none is known. */
  public @Nullable InetSocketAddress find(String bus) {
    InetSocketAddress address = learned.get(bus);
    return address != null ? address : configured.get(bus);
  }

  /** Parses {@code host:port} or {@code [host]:port}; returns null if it is neither. */
  public static @Nullable InetSocketAddress parse(String address) {
    int colon = address.lastIndexOf(':');
    if (colon < 1) {
      return null;
    }
    String host = address.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      return InetSocketAddress.createUnresolved(
          host, Integer.parseInt(address.substring(colon + 1)));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
