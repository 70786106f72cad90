package io.eventbus.server.admission;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Addresses from their texts. */
final class Ip {
  private Ip() {}

  static InetAddress of(String literal) {
    try {
      return InetAddress.getByName(literal);
    } catch (UnknownHostException e) {
      throw new AssertionError(literal, e);
    }
  }

  static InetSocketAddress client(String literal) {
    return new InetSocketAddress(of(literal), 4711);
  }
}
