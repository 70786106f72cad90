package io.eventbus.client.tyrus;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Addresses of a host, starting with another one each time: a name may stand for several buses, of
 * which one is down. Any thread may use it.
 */
final class HostAddresses {
  private static final int MAX_HOSTS = 1_000;

  /** Resolver of names. */
  @FunctionalInterface
  interface Resolver {
    /** Returns at least one address; may wait for the name service. */
    InetAddress[] resolve(String host) throws UnknownHostException;
  }

  private final Map<String, Integer> turns = new ConcurrentHashMap<>();

  /** Returns all addresses of a host, in the order in which they are to be tried. */
  List<InetSocketAddress> inTurn(String host, int port, InetAddress[] all) {
    if (turns.size() >= MAX_HOSTS) {
      turns.clear();
    }
    int first = turns.merge(host, 0, (before, zero) -> before + 1);
    List<InetSocketAddress> turned = new ArrayList<>(all.length);
    for (int i = 0; i < all.length; i++) {
      turned.add(new InetSocketAddress(all[Math.floorMod(first + i, all.length)], port));
    }
    return turned;
  }
}
