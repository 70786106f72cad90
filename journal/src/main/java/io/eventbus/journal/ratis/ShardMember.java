package io.eventbus.journal.ratis;

/**
 * Replica of a shard.
 *
 * @param id bus and generation, as {@code bus~1}
 * @param address where the links of the bus are reached, as {@code host:port}
 * @param voter whether it votes; otherwise it only follows the log
 */
public record ShardMember(String id, String address, boolean voter) {}
