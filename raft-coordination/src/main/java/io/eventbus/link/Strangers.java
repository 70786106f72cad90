package io.eventbus.link;

import io.netty.channel.Channel;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Connections that are in their handshake, bounded in number. At the bound the oldest one of the
 * address that has most makes room: a bus needs milliseconds for its handshake, and who says
 * nothing keeps no bus out. Any thread.
 */
final class Strangers {
  private final int most;
  private final Map<InetAddress, Set<Channel>> byAddress = new HashMap<>();
  private int count;

  Strangers(int most) {
    this.most = most;
  }

  /**
   * Adds a connection.
   *
   * @return the connection that has to be closed for it, already removed; null for none
   */
  synchronized @Nullable Channel add(Channel channel, InetAddress address) {
    if (byAddress.computeIfAbsent(address, a -> new LinkedHashSet<>()).add(channel)) {
      count++;
    }
    return count > most ? takeOldest() : null;
  }

  private @Nullable Channel takeOldest() {
    InetAddress crowded = null;
    int largest = 0;
    for (Map.Entry<InetAddress, Set<Channel>> each : byAddress.entrySet()) {
      if (each.getValue().size() > largest) {
        crowded = each.getKey();
        largest = each.getValue().size();
      }
    }
    if (crowded == null) {
      return null;
    }
    Iterator<Channel> oldest = byAddress.getOrDefault(crowded, Set.of()).iterator();
    Channel taken = oldest.next();
    remove(taken, crowded);
    return taken;
  }

  /** Removes a connection whose handshake is over. Does nothing if it is not there. */
  synchronized void remove(Channel channel, InetAddress address) {
    Set<Channel> there = byAddress.get(address);
    if (there != null && there.remove(channel)) {
      count--;
      if (there.isEmpty()) {
        byAddress.remove(address);
      }
    }
  }

  synchronized int count() {
    return count;
  }
}
