package io.eventbus.journal.read;

import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole.Reason;
import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reader of a journal that keeps all events. For one thread; the rows that it is given with each
 * call are those of one moment.
 *
 * <p>Indexes are read first, and only chunks that have a topic that is wanted.
 */
public final class JournalReader {
  private static final Logger LOG = LoggerFactory.getLogger(JournalReader.class);

  private final int journal;
  private final ChunkView view = new ChunkView();

  /** Creates a reader of a journal. */
  public JournalReader(int journal) {
    this.journal = journal;
  }

  /**
   * Reads on from a position.
   *
   * @return what was found; null if there is no such journal
   * @throws DamagedRowException if rows of this journal cannot be read that are no chunks
   */
  public @Nullable ReadBatch read(RowReader rows, ReadRequest request) {
    JournalCounters counters = JournalPositions.counters(rows, journal);
    if (counters == null) {
      return null;
    }
    return read(rows, request, counters.firstPosition(), counters.lastPosition());
  }

  /**
   * Reads on from a position in a journal whose first and last position the caller knows.
   *
   * @throws DamagedRowException if rows of this journal cannot be read that are no chunks
   */
  public ReadBatch read(
      RowReader rows, ReadRequest request, long firstPosition, long lastPosition) {
    BatchBuilder batch = new BatchBuilder(request);
    batch.holeUntil(Reason.TRIMMED, Math.min(firstPosition, lastPosition + 1));
    if (batch.next() <= lastPosition) {
      readChunks(rows, request, lastPosition, batch);
    }
    return batch.build();
  }

  private void readChunks(
      RowReader rows, ReadRequest request, long lastPosition, BatchBuilder batch) {
    long start = JournalPositions.chunkAt(rows, journal, batch.next());
    byte[] from = Keys.chunkIndex(journal, start);
    try (RowScan scan = rows.scan(from, Keys.end(Keys.CHUNK_INDEX, journal))) {
      while (scan.next()) {
        long position = Keys.number(scan.key());
        // Chunks follow each other without a gap: between them rows are missing or unreadable.
        batch.holeUntil(Reason.DAMAGED, position);
        if (batch.isFull()) {
          return;
        }
        byte[] value = scan.value();
        batch.addBytes(value.length);
        readChunk(rows, request, position, value, batch);
      }
    }
    batch.holeUntil(Reason.DAMAGED, lastPosition + 1);
  }

  private void readChunk(
      RowReader rows, ReadRequest request, long position, byte[] value, BatchBuilder batch) {
    ChunkIndex index;
    try {
      index = ChunkIndex.decode(position, value);
    } catch (ChunkFormatException e) {
      LOG.debug("{}", e.getMessage());
      return;
    }
    long end = index.lastPosition() + 1;
    boolean purged = index.events() < end - position;
    if (!purged && !index.hasAny(request.topics())) {
      batch.coverUntil(end);
      return;
    }
    batch.addBytes(index.bytes());
    if (!readParts(rows, index, batch)) {
      batch.holeUntil(Reason.DAMAGED, end);
    }
  }

  /** Covers what is in a chunk, and returns false if it cannot be read. */
  private boolean readParts(RowReader rows, ChunkIndex index, BatchBuilder batch) {
    long position = index.firstPosition();
    try {
      byte[] chunk = rows.get(Keys.chunk(journal, position));
      if (chunk == null) {
        LOG.debug("chunk of journal {} at position {}: not there", journal, position);
        return false;
      }
      view.read(ByteBuffer.wrap(chunk), journal, position);
    } catch (ChunkFormatException | DamagedRowException e) {
      LOG.debug("{}", e.getMessage());
      return false;
    }
    while (view.next()) {
      batch.holeUntil(Reason.PURGED, view.position());
      batch.cover(view);
    }
    batch.holeUntil(Reason.PURGED, view.lastPosition() + 1);
    return view.lastPosition() == index.lastPosition();
  }
}
