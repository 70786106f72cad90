package io.eventbus.server.config;

import org.jspecify.annotations.Nullable;

/**
 * Search for other buses on the local network.
 *
 * @param enabled whether the bus announces itself and listens for others
 * @param group multicast group, an IP address
 * @param port UDP port
 * @param networkInterface name or address of the interface, or null for the one with the address
 *     that the bus advertises
 */
public record DiscoveryConfig(
    boolean enabled, String group, int port, @Nullable String networkInterface) {
  /**
   * Checks every value.
   *
   * @param enabled whether the bus announces itself and listens for others
   * @param group multicast group, an IP address
   * @param port UDP port
   * @param networkInterface name or address of the interface, or null for the one with the address
   *     that the bus advertises
   * @throws IllegalArgumentException if a value is illegal
   */
  public DiscoveryConfig {
    TextCheck.host(ConfigKey.CLUSTER_DISCOVERY_GROUP, group);
    HostHeader address = HostHeader.of(group.indexOf(':') >= 0 ? "[" + group + "]" : group);
    if (!address.isAddress()) {
      throw new IllegalArgumentException(
          ConfigKey.CLUSTER_DISCOVERY_GROUP.key()
              + ": \""
              + group
              + "\" (expected: the address of a multicast group, such as 239.255.80.82)");
    }
    ConfigKey.CLUSTER_DISCOVERY_PORT.inRange(port);
    if (networkInterface != null) {
      TextCheck.networkInterface(ConfigKey.CLUSTER_DISCOVERY_INTERFACE, networkInterface);
    }
  }
}
