package io.eventbus.journal.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.WriteOptions;

/** Open database with the native objects that belong to it. */
final class Database implements AutoCloseable {
  /** Minimum size of a value that lies in a blob file. */
  private static final long MIN_BLOB_BYTES = 4 << 10;

  private static final long BLOB_FILE_BYTES = 64L << 20;

  private final BloomFilter filter;
  private final Options options;
  final RocksDB db;
  final WriteOptions write;
  final FlushOptions flush;
  final ReadOptions read;
  final ReadOptions readOnDisk;

  private Database(BloomFilter filter, Options options, RocksDB db) {
    this.filter = filter;
    this.options = options;
    this.db = db;
    // No log: the shard's is the log. A write that cannot be taken at once is refused.
    write = new WriteOptions().setDisableWAL(true).setNoSlowdown(true);
    flush = new FlushOptions().setWaitForFlush(false).setAllowWriteStall(false);
    read = new ReadOptions();
    readOnDisk = new ReadOptions().setReadTier(ReadTier.PERSISTED_TIER);
  }

  static Database open(Path directory, StoreOptions settings, StoreResources resources)
      throws IOException {
    Files.createDirectories(directory);
    BloomFilter filter = new BloomFilter(10);
    Options options = options(settings, resources, filter);
    try {
      RocksDB db = RocksDB.open(options, directory.toString());
      return new Database(filter, options, db);
    } catch (RocksDBException e) {
      options.close();
      filter.close();
      throw new IOException(
          "store "
              + directory
              + ": cannot be opened: "
              + e.getMessage()
              + " (expected: the whole and undamaged files of a store, used by nobody else)",
          e);
    }
  }

  private static Options options(
      StoreOptions settings, StoreResources resources, BloomFilter filter) {
    Options options =
        new Options()
            .setCreateIfMissing(true)
            .setParanoidChecks(true)
            // An error in the background ends the store; RocksDB is not to try again by itself.
            .setMaxBgErrorResumeCount(0);
    options
        .setMaxBackgroundJobs(2)
        .setMaxOpenFiles(512)
        // Readers that catch up read whole blob files: the system is to read ahead.
        .setAdviseRandomOnOpen(false)
        .setBytesPerSync(1 << 20)
        .setStatsDumpPeriodSec(0)
        .setStatsPersistPeriodSec(0)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
        .setMaxLogFileSize(1 << 20)
        .setKeepLogFileNum(2)
        .setMaxManifestFileSize(16L << 20);
    options
        .setWriteBufferManager(resources.writeBuffers())
        .setWriteBufferSize(settings.writeBufferBytes())
        .setMaxWriteBufferNumber(settings.maxWriteBuffers())
        .setCompressionType(CompressionType.NO_COMPRESSION);
    options.setTableFormatConfig(
        new BlockBasedTableConfig()
            .setBlockCache(resources.blocks())
            .setCacheIndexAndFilterBlocks(true)
            .setPinL0FilterAndIndexBlocksInCache(true)
            .setFilterPolicy(filter));
    if (settings.blobFiles()) {
      options
          .setEnableBlobFiles(true)
          .setMinBlobSize(MIN_BLOB_BYTES)
          .setBlobFileSize(BLOB_FILE_BYTES)
          .setEnableBlobGarbageCollection(true)
          .setBlobGarbageCollectionAgeCutoff(0.25)
          .setBlobGarbageCollectionForceThreshold(0.5);
    }
    return options;
  }

  /**
   * Ends a store if an error has come up in RocksDB's own threads. Without a log of its own it
   * takes a failed flush for a small matter, and goes on filling memory. A listener would not hear
   * of it: RocksJava does not know that reason, and throws the event away.
   */
  void checkBackground(StoreFailure failure) {
    failure.check();
    try {
      long errors = backgroundErrors();
      if (errors > 0) {
        throw failure.fail(errors + " errors in the background, of which its file LOG tells", null);
      }
    } catch (RocksDBException e) {
      throw failure.fail("errors in the background cannot be counted", e);
    }
  }

  long backgroundErrors() throws RocksDBException {
    return db.getLongProperty("rocksdb.background-errors");
  }

  long liveBytes() throws RocksDBException {
    return db.getLongProperty("rocksdb.estimate-live-data-size")
        + db.getLongProperty("rocksdb.live-blob-file-size")
        - db.getLongProperty("rocksdb.live-blob-file-garbage-size");
  }

  /**
   * Asks for a flush, which goes on in the background.
   *
   * @return false if writes have no room at present: flushes are under way then, and RocksDB takes
   *     no other
   */
  boolean tryFlush(StoreFailure failure) {
    try {
      db.flush(flush);
      return true;
    } catch (RocksDBException e) {
      Status status = e.getStatus();
      if (status != null && status.getCode() == Status.Code.TryAgain) {
        return false;
      }
      throw failure.fail("a flush failed", e);
    }
  }

  /** Waits for work in the background; what is in memory is on the disk then. */
  @Override
  public void close() {
    readOnDisk.close();
    read.close();
    flush.close();
    write.close();
    db.close();
    options.close();
    filter.close();
  }
}
