package io.eventbus.journal.store;

import java.time.Duration;

/**
 * Settings of a store; only tests and measurements need others than {@link #DEFAULT}.
 *
 * @param writeBufferBytes size of one of the buffers that writes go into
 * @param maxWriteBuffers how many of them there may be
 * @param blobFiles whether large values lie in files of their own, which compaction does not copy
 * @param writeTimeout time for which a commit waits for room before the store fails
 * @param flush when rows are brought to the disk
 */
public record StoreOptions(
    long writeBufferBytes,
    int maxWriteBuffers,
    boolean blobFiles,
    Duration writeTimeout,
    FlushPolicy flush) {
  /** Settings of a shard. */
  public static final StoreOptions DEFAULT =
      new StoreOptions(32L << 20, 3, true, Duration.ofSeconds(60), FlushPolicy.DEFAULT);
}
