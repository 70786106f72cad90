package io.eventbus.journal;

import io.eventbus.protocol.TopicFilter;

/**
 * Cursor of a durable subscription.
 *
 * @param name unique in its journal
 * @param filter selects the topics whose events it gets
 * @param floor every event up to this position is settled
 * @param epoch number of its consumer
 * @param stamp when it was last used, in milliseconds of the shard's time
 */
public record CursorView(String name, TopicFilter filter, long floor, long epoch, long stamp) {}
