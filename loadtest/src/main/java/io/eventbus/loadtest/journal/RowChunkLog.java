package io.eventbus.loadtest.journal;

import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.read.JournalReader;
import io.eventbus.journal.read.ReadRequest;
import io.eventbus.journal.rows.Rows;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.FlushPolicy;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreBatch;
import io.eventbus.journal.store.StoreIdentity;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.StoreOptions;
import io.eventbus.journal.store.StoreResources;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;

/** Chunks as rows of a shard's store, in blob files or as plain values. */
final class RowChunkLog implements ChunkLog {
  private static final Duration FLUSH_TIMEOUT = Duration.ofMinutes(5);
  private static final long READ_BYTES = 1 << 20;
  private static final byte[] TOPIC = "measured.topic".getBytes(StandardCharsets.UTF_8);

  private final StoreResources resources;
  private final ShardStore store;
  private final long[] first;
  private final long[] last;

  RowChunkLog(Path directory, boolean blobFiles, int journals) throws IOException {
    resources = StoreResources.open(library(directory));
    StoreOptions options =
        new StoreOptions(32L << 20, 3, blobFiles, Duration.ofSeconds(60), FlushPolicy.DEFAULT);
    store =
        ShardStore.open(
            directory.resolve("rows"),
            new StoreIdentity(new UUID(0, 1), "measured~1"),
            options,
            resources,
            failure -> {});
    first = new long[journals];
    last = new long[journals];
    Arrays.fill(first, 1);
  }

  /** Returns where RocksDB's native library is unpacked to. */
  static Path library(Path directory) {
    return directory.resolve("lib");
  }

  @Override
  public void write(int journal, ByteBuffer chunk, ChunkIndex index) {
    try (StoreBatch batch = store.begin()) {
      batch.put(Keys.chunk(journal, index.firstPosition()), chunk);
      writeSmallRows(batch, journal, index, index.encode());
      commit(batch);
    }
  }

  /** Writes the rows that each entry changes besides its chunk. */
  void writeSmallRows(Rows batch, int journal, ChunkIndex index, byte[] indexRow) {
    last[journal] = index.lastPosition();
    batch.put(Keys.chunkIndex(journal, index.firstPosition()), indexRow);
    batch.put(Keys.topic(journal, TOPIC), new byte[32]);
    batch.put(Keys.journalCounters(journal), new byte[48]);
  }

  void commit(StoreBatch batch) {
    batch.commit(new AppliedEntry(1, store.applied().index() + 1, 0));
  }

  ShardStore store() {
    return store;
  }

  @Override
  public void trim(int journal, long position) {
    try (StoreBatch batch = store.begin()) {
      first[journal] = position;
      batch.deleteRange(Keys.first(Keys.CHUNK, journal), Keys.chunk(journal, position));
      batch.deleteRange(Keys.first(Keys.CHUNK_INDEX, journal), Keys.chunkIndex(journal, position));
      commit(batch);
    }
  }

  @Override
  public void flush() throws IOException, InterruptedException {
    if (!store.flush(FLUSH_TIMEOUT)) {
      throw new IOException("not on the disk after " + FLUSH_TIMEOUT);
    }
  }

  @Override
  public long scan(int journal) throws IOException {
    JournalReader reader = new JournalReader(journal);
    long bytes = 0;
    long next = first[journal];
    while (next <= last[journal]) {
      ReadRequest request = new ReadRequest(next, topic -> true, READ_BYTES, 0);
      try (StoreLease lease = store.lease()) {
        ReadBatch batch = reader.read(lease, request, first[journal], last[journal]);
        if (!batch.holes().isEmpty()) {
          throw new IOException("journal " + journal + ": " + batch.holes() + " (expected: none)");
        }
        bytes += batch.bytes();
        next = batch.to() + 1;
      }
    }
    return bytes;
  }

  @Override
  public long stalls() {
    return store.stats().stalls();
  }

  @Override
  public void close() {
    store.close();
    resources.close();
  }
}
