package io.eventbus.journal.store;

/**
 * Figures of a store since it was opened.
 *
 * @param entries entries that were committed
 * @param bytes bytes of their rows
 * @param stalls commits that had to wait because RocksDB could not take them
 * @param stallNanos nanoseconds that they waited together
 * @param flushes flushes that were asked for
 */
public record StoreStats(long entries, long bytes, long stalls, long stallNanos, long flushes) {}
