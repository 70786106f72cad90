package io.eventbus.server.admission;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Trusted proxies, which name their clients' addresses. Immutable. */
public final class ProxyNetworks {
  /** Proxies on this machine. */
  public static final ProxyNetworks LOOPBACK = of(List.of("127.0.0.0/8", "::1"));

  private static final int V4_BITS = 32;
  private static final int MAPPED_BITS = 96;

  private final List<Network> networks;

  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Network(byte[] address, int bits) {
    boolean contains(byte[] other) {
      if (other.length != address.length) {
        return false;
      }
      for (int i = 0; i * 8 < bits; i++) {
        int mask = bits - i * 8 >= 8 ? 0xFF : 0xFF << (8 - (bits - i * 8)) & 0xFF;
        if (((address[i] ^ other[i]) & mask) != 0) {
          return false;
        }
      }
      return true;
    }
  }

  private ProxyNetworks(List<Network> networks) {
    this.networks = List.copyOf(networks);
  }

  /**
   * Parses addresses and networks in the notation of CIDR.
   *
   * @throws ConfigException if one of them is none; names it
   */
  public static ProxyNetworks of(List<String> texts) {
    List<Network> networks = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    for (String text : texts) {
      Network network = read(text);
      if (network == null) {
        problems.add(
            ConfigKey.LISTEN_PROXIES.key()
                + ": \""
                + text
                + "\" (expected: "
                + ConfigKey.LISTEN_PROXIES.type().expectation()
                + ")");
      } else {
        networks.add(network);
      }
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return new ProxyNetworks(networks);
  }

  private static @Nullable Network read(String text) {
    int slash = text.indexOf('/');
    byte[] written =
        NetUtil.createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
    if (written == null) {
      return null;
    }
    int max = written.length * 8;
    int bits;
    try {
      bits = slash < 0 ? max : Integer.parseInt(text.substring(slash + 1));
    } catch (NumberFormatException e) {
      return null;
    }
    if (bits < 0 || bits > max) {
      return null;
    }
    byte[] plain = ClientAddress.plain(ClientAddress.literal(written)).getAddress();
    if (plain.length * 8 == V4_BITS && max != V4_BITS) {
      return bits < MAPPED_BITS ? null : new Network(plain, bits - MAPPED_BITS);
    }
    return new Network(plain, bits);
  }

  /** Returns whether an address is a proxy's. */
  public boolean contains(@Nullable InetAddress address) {
    if (networks.isEmpty() || address == null) {
      return false;
    }
    byte[] bytes = ClientAddress.plain(address).getAddress();
    for (Network network : networks) {
      if (network.contains(bytes)) {
        return true;
      }
    }
    return false;
  }
}
