package io.eventbus.link;

import io.netty.channel.Channel;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Connections that are in their handshake, bounded in number. At the bound the oldest one of the
 * addresses that have most is evicted: a bus needs milliseconds for its handshake, and a silent
 * connection keeps no bus out. Any thread.
 */
final class Strangers {
  /**
   * Number of bytes of an IPv6 address that name a network: one machine has all addresses of it.
   */
  private static final int NETWORK_BYTES = 8;

  private final int max;
  // From the oldest to the newest, with their addresses.
  private final Map<Channel, String> addresses = new LinkedHashMap<>();
  private final Map<String, Integer> counts = new HashMap<>();

  Strangers(int max) {
    this.max = max;
  }

  /**
   * Adds a connection.
   *
   * @return the connection that has to be closed for it, already removed; null for none
   */
  synchronized @Nullable Channel add(Channel channel, InetAddress from) {
    String address = name(from);
    Channel oldest = addresses.size() < max ? null : oldestOfTheMostCrowded();
    if (oldest != null) {
      remove(oldest);
    }
    if (addresses.put(channel, address) == null) {
      counts.merge(address, 1, Integer::sum);
    }
    return oldest;
  }

  private @Nullable Channel oldestOfTheMostCrowded() {
    int largest = counts.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    for (Map.Entry<Channel, String> each : addresses.entrySet()) {
      if (counts.getOrDefault(each.getValue(), 0) == largest) {
        return each.getKey();
      }
    }
    return null;
  }

  private static String name(InetAddress address) {
    byte[] bytes = address.getAddress();
    return HexFormat.of()
        .formatHex(address instanceof Inet6Address ? Arrays.copyOf(bytes, NETWORK_BYTES) : bytes);
  }

  /** Removes a connection whose handshake is over. Does nothing if it is not there. */
  synchronized void remove(Channel channel) {
    String address = addresses.remove(channel);
    if (address != null) {
      counts.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
    }
  }

  synchronized int count() {
    return addresses.size();
  }
}
