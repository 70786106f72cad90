package io.eventbus.journal;

import io.eventbus.protocol.TopicFilter;

/**
 * Cursor of a durable subscription.
 *
 * @param name unique in its journal
 * @param filter selects the topics whose events it gets
 * @param floor every event up to this position is settled
 * @param epoch number of its consumer
 * @param owner text that names the process whose consumer it is; empty for none
 * @param stamp when it was last used, in milliseconds of the shard's time
 */
public record CursorView(
    String name, TopicFilter filter, long floor, long epoch, String owner, long stamp) {
  /** Maximum size of an owner, in bytes of UTF-8. */
  public static final int MAX_OWNER_BYTES = 128;
}
