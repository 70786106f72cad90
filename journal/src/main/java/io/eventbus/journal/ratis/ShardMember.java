package io.eventbus.journal.ratis;

import io.eventbus.raft.members.PeerBook;
import java.net.InetSocketAddress;

/**
 * Replica of a shard.
 *
 * @param id bus and generation, as {@code bus~1}
 * @param address where the links of the bus are reached, as {@code host:port}
 * @param voter whether it votes; otherwise it only follows the log
 */
public record ShardMember(String id, String address, boolean voter) {
  /** Returns the id of the replica of a bus. */
  public static String id(String bus, int generation) {
    return bus + "~" + generation;
  }

  /**
   * Returns an address that is not looked up yet.
   *
   * @throws IllegalArgumentException if it cannot be read
   */
  static InetSocketAddress parse(String id, String address) {
    InetSocketAddress parsed = PeerBook.parse(address);
    if (parsed == null) {
      throw new IllegalArgumentException(
          "address of " + id + ": " + address + " (expected: host:port)");
    }
    return parsed;
  }

  /** Returns where the links of the bus are reached. */
  InetSocketAddress socketAddress() {
    return parse(id, address);
  }

  /** Returns the name of the bus, by which its links know it. */
  public static String bus(String id) {
    int end = id.lastIndexOf('~');
    return end < 0 ? id : id.substring(0, end);
  }

  /** Returns the generation of an id of {@link #id}. */
  public static int generation(String id) {
    return Integer.parseInt(id.substring(id.lastIndexOf('~') + 1));
  }
}
