package io.eventbus.journal.read;

import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole.Reason;
import io.eventbus.journal.chunk.ChunkFormatException;
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
 * Reader of a journal that keeps the latest event of each topic. For one thread; the rows that it
 * is given with each call are those of one moment.
 *
 * <p>Read from position 1 on, it gives the latest value of each topic once, but for those that get
 * a new one meanwhile: the new one comes at its position. So a reader that has got to the end has
 * all latest values, and goes on with what changes. Positions of events that were replaced are no
 * holes.
 */
public final class LatestReader {
  private static final Logger LOG = LoggerFactory.getLogger(LatestReader.class);

  private final int journal;
  private final ChunkView view = new ChunkView();

  /** Creates a reader of a journal. */
  public LatestReader(int journal) {
    this.journal = journal;
  }

  /**
   * Reads on from a position.
   *
   * @return what was found; null if there is no such journal
   * @throws DamagedRowException if rows of this journal cannot be read that are no events
   */
  public @Nullable ReadBatch read(RowReader rows, ReadRequest request) {
    JournalCounters counters = JournalPositions.counters(rows, journal);
    if (counters == null) {
      return null;
    }
    BatchBuilder batch = new BatchBuilder(request);
    byte[] from = Keys.latestPosition(journal, request.from());
    try (RowScan scan = rows.scan(from, Keys.end(Keys.LATEST_POSITION, journal))) {
      while (scan.next()) {
        if (batch.isFull()) {
          return batch.build();
        }
        long position = Keys.number(scan.key());
        batch.coverUntil(position);
        batch.addBytes(Long.BYTES);
        long topic = ByteBuffer.wrap(scan.value()).getLong();
        if (request.topics().test(topic) && !readEvent(rows, topic, position, batch)) {
          batch.holeUntil(Reason.DAMAGED, position + 1);
        }
        batch.coverUntil(position + 1);
      }
    }
    batch.coverUntil(counters.lastPosition() + 1);
    return batch.build();
  }

  private boolean readEvent(RowReader rows, long topic, long position, BatchBuilder batch) {
    try {
      byte[] chunk = rows.get(Keys.latest(journal, topic));
      if (chunk == null) {
        LOG.debug("latest event of topic {} of journal {}: not there", topic, journal);
        return false;
      }
      batch.addBytes(chunk.length);
      view.read(ByteBuffer.wrap(chunk), journal, position);
    } catch (ChunkFormatException | DamagedRowException e) {
      LOG.debug("{}", e.getMessage());
      return false;
    }
    while (view.next()) {
      batch.cover(view);
    }
    return true;
  }
}
