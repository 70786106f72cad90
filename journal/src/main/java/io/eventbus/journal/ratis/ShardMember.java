package io.eventbus.journal.ratis;

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
