package io.eventbus.server.admission;

import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Unit that counts as one address: an address of IPv4, also if it is written as one of IPv6, or a
 * /64 network of IPv6, because the owner of one address there usually has the whole network.
 */
public record ClientAddress(boolean v4, long bits) implements Comparable<ClientAddress> {
  private static final int V6_BYTES = 16;

  /** Returns what an address counts as. */
  public static ClientAddress of(InetAddress address) {
    byte[] bytes = plain(address).getAddress();
    ByteBuffer all = ByteBuffer.wrap(bytes);
    return bytes.length == V6_BYTES
        ? new ClientAddress(false, all.getLong())
        : new ClientAddress(true, Integer.toUnsignedLong(all.getInt()));
  }

  /** Returns an address of IPv4 that is written as one of IPv6 as one of IPv4. */
  static InetAddress plain(InetAddress address) {
    if (address instanceof Inet6Address v6) {
      Inet4Address v4 = mapped(v6.getAddress());
      return v4 == null ? address : v4;
    }
    return address;
  }

  private static @Nullable Inet4Address mapped(byte[] bytes) {
    for (int i = 0; i < 10; i++) {
      if (bytes[i] != 0) {
        return null;
      }
    }
    if (bytes[10] != -1 || bytes[11] != -1) {
      return null;
    }
    return (Inet4Address) literal(new byte[] {bytes[12], bytes[13], bytes[14], bytes[15]});
  }

  static InetAddress literal(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(bytes.length + " bytes (expected: 4 or 16)", e);
    }
  }

  /** Compares by a number, so that a table of addresses that collide stays fast. */
  @Override
  public int compareTo(ClientAddress other) {
    int order = Long.compare(bits, other.bits);
    return order != 0 ? order : Boolean.compare(v4, other.v4);
  }

  @Override
  public String toString() {
    if (v4) {
      return NetUtil.bytesToIpAddress(ByteBuffer.allocate(4).putInt((int) bits).array());
    }
    byte[] network = ByteBuffer.allocate(V6_BYTES).putLong(bits).array();
    return NetUtil.toAddressString(literal(network)) + "/64";
  }
}
