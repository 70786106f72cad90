package io.eventbus.journal.store;

import java.util.UUID;

/**
 * Owner of a store, which is written into it when it is made.
 *
 * @param group the Raft group of the shard
 * @param member the replica: bus and generation
 */
public record StoreIdentity(UUID group, String member) {}
