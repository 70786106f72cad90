package io.eventbus.journal.store;

/**
 * Entry of a shard's log up to which a store has all rows, and none of those after it.
 *
 * @param term term of the entry
 * @param index index of the entry, 0 for none
 * @param stamp time of the shard after the entry, in milliseconds
 */
public record AppliedEntry(long term, long index, long stamp) {
  /** Store to which no entry was applied. */
  public static final AppliedEntry NONE = new AppliedEntry(0, 0, 0);
}
