package io.eventbus.journal.store;

import java.io.IOException;
import java.nio.file.Path;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.WriteBufferManager;

/** Memory that all stores of a process share. Any thread; closed after the stores. */
public final class StoreResources implements AutoCloseable {
  /** Bytes for blocks of files, their indexes and filters. */
  public static final long CACHE_BYTES = 32L << 20;

  /** Bytes of what was written and is not on the disk yet. */
  public static final long WRITE_BUFFER_BYTES = 96L << 20;

  private final Cache blocks;
  // The manager books its bytes in a cache. In that of the blocks they would drive these out.
  private final Cache writeBufferAccount;
  private final WriteBufferManager writeBuffers;

  private StoreResources() {
    blocks = new LRUCache(CACHE_BYTES);
    writeBufferAccount = new LRUCache(2 * WRITE_BUFFER_BYTES);
    // A write is refused where there is no room, and the store counts that; it never blocks.
    writeBuffers = new WriteBufferManager(WRITE_BUFFER_BYTES, writeBufferAccount, false);
  }

  /**
   * Loads RocksDB and creates what its stores share.
   *
   * @param libraryDirectory where its native library is unpacked to
   * @throws IOException if it cannot be loaded, naming the platform
   */
  public static StoreResources open(Path libraryDirectory) throws IOException {
    NativeLibrary.load(libraryDirectory);
    return new StoreResources();
  }

  /** Returns the bytes that are in use outside of the heap. */
  public long usedBytes() {
    return blocks.getUsage() + writeBufferAccount.getUsage();
  }

  Cache blocks() {
    return blocks;
  }

  WriteBufferManager writeBuffers() {
    return writeBuffers;
  }

  @Override
  public void close() {
    writeBuffers.close();
    writeBufferAccount.close();
    blocks.close();
  }
}
