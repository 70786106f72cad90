package io.eventbus.raft.members;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The addresses at which the links of other buses listen. What a bus said of itself most recently
 * wins over what a group's configuration remembers, so that a bus may come back with another
 * address. Any thread.
 */
public final class PeerBook {
  private final Map<String, InetSocketAddress> learned = new ConcurrentHashMap<>();
  private final Map<String, InetSocketAddress> configured = new ConcurrentHashMap<>();

  /** Notes what a bus says of itself. */
  public void learn(String bus, InetSocketAddress address) {
    learned.put(bus, address);
  }

  /** Notes what the configuration says; what cannot be read is ignored. */
  public void configure(String bus, @Nullable String address) {
    InetSocketAddress parsed = address == null ? null : parse(address);
    if (parsed != null) {
      configured.put(bus, parsed);
    }
  }

  /** The address of a bus; null if none is known. */
  public @Nullable InetSocketAddress find(String bus) {
    InetSocketAddress address = learned.get(bus);
    return address != null ? address : configured.get(bus);
  }

  /** {@code host:port} or {@code [host]:port}; null if it is neither. */
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
