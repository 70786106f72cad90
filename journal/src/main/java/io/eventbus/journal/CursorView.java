package io.eventbus.journal;

import io.eventbus.protocol.TopicFilter;

/**
 * Cursor of a durable subscription.
 *
 * @param name unique in its journal
 * @param filter selects the topics whose events it gets
 * @param mode how consumers get them
 * @param floor every event up to this position is settled; a dead letter is not. May be too early
 *     if more than 10,000 ranges wait
 * @param epoch number of its consumer; of a shared cursor that of the last one that joined
 * @param owner text that names the process whose consumer it is; empty for none, and of a shared
 *     cursor
 * @param stamp when it was last used, in milliseconds of the shard's time
 * @param head every event up to this position was taken by a consumer; the floor of an exclusive
 *     cursor; of a key-shared one, every event up to it was settled or dead
 * @param consumers number of the consumers of a shared cursor
 * @param inFlight number of events that these have taken and not settled; not known of a key-shared
 *     cursor
 * @param waiting number of events that were given back and wait for a consumer or for their time
 * @param dead number of events that no consumer gets any more
 * @param lag number of positions that are not settled, without dead letters
 * @param oldestStamp when the first of these was stored, in milliseconds of the shard's time; 0 if
 *     there is none, or if it is not known
 */
public record CursorView(
    String name,
    TopicFilter filter,
    CursorMode mode,
    long floor,
    long epoch,
    String owner,
    long stamp,
    long head,
    int consumers,
    long inFlight,
    long waiting,
    long dead,
    long lag,
    long oldestStamp) {
  /** Maximum size of an owner, in bytes of UTF-8. */
  public static final int MAX_OWNER_BYTES = 128;
}
