package io.eventbus.server.cluster;

import io.eventbus.registry.Endpoint;
import io.eventbus.server.config.ClusterConfig;
import io.eventbus.server.config.DiscoveryConfig;
import io.eventbus.server.config.HostPort;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Addresses at which other buses reach this one, where none is configured. */
final class AdvertisedAddress {
  private AdvertisedAddress() {}

  /**
   * Returns the address of the links.
   *
   * @throws IOException if there is no address but loopback, and other machines are to reach this
   *     bus
   */
  static Endpoint find(ClusterConfig config, int port) throws IOException {
    HostPort configured = config.advertised();
    if (configured != null) {
      return new Endpoint(configured.host(), configured.port() == 0 ? port : configured.port());
    }
    String bound = config.bindHost();
    return new Endpoint(SeedAddresses.isAll(bound) ? local(config) : bound, port);
  }

  /** Returns the address of the interface that leads to the others, or else to the network. */
  private static String local(ClusterConfig config) throws IOException {
    for (HostPort other : config.join()) {
      String found = other.isLoopback() ? null : towards(other);
      if (found != null) {
        return found;
      }
    }
    if (!config.join().isEmpty() && config.join().stream().allMatch(HostPort::isLoopback)) {
      return config.join().get(0).host();
    }
    DiscoveryConfig discovery = config.discovery();
    String found = towards(new HostPort(discovery.group(), discovery.port()));
    if (found == null) {
      throw new IOException(
          "cluster.advertised: none, and this machine seems to have no address but loopback"
              + " (expected: where other buses reach this one)");
    }
    return found;
  }

  /**
   * Returns the address from which the system would send to a target, or null for none but
   * loopback; nothing is sent.
   */
  private static @Nullable String towards(HostPort target) throws IOException {
    InetAddress[] addresses;
    try {
      addresses = InetAddress.getAllByName(target.host());
    } catch (UnknownHostException e) {
      // The name is looked up again when the bus joins; another address may be known then.
      return null;
    }
    for (InetAddress address : addresses) {
      try (DatagramSocket socket = new DatagramSocket()) {
        socket.connect(new InetSocketAddress(address, target.port()));
        InetAddress local = socket.getLocalAddress();
        if (!local.isLoopbackAddress() && !local.isAnyLocalAddress()) {
          return local.getHostAddress();
        }
      } catch (SocketException e) {
        // No way leads to this one.
      }
    }
    return null;
  }
}
