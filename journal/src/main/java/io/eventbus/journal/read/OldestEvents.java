package io.eventbus.journal.read;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.RetentionPolicy.Removable;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events of a journal in the units in which they are removed, the oldest first. Ends at a row that
 * is damaged. For one thread.
 */
public final class OldestEvents implements Iterator<Removable>, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OldestEvents.class);

  private final RowReader rows;
  private final int journal;
  private final boolean latest;
  private final RowScan scan;
  private final ChunkView view = new ChunkView();
  private @Nullable Removable next;

  private OldestEvents(RowReader rows, int journal, boolean latest, RowScan scan) {
    this.rows = rows;
    this.journal = journal;
    this.latest = latest;
    this.scan = scan;
    next = read();
  }

  /**
   * Begins with the first event of a journal.
   *
   * @param latest whether the journal keeps only the last event of each topic
   */
  public static OldestEvents of(
      RowReader rows, int journal, JournalCounters counters, boolean latest) {
    byte kind = latest ? Keys.LATEST_POSITION : Keys.CHUNK_INDEX;
    byte[] from =
        latest
            ? Keys.latestPosition(journal, counters.firstPosition())
            : Keys.chunkIndex(journal, counters.firstPosition());
    return new OldestEvents(rows, journal, latest, rows.scan(from, Keys.end(kind, journal)));
  }

  private @Nullable Removable read() {
    if (!scan.next()) {
      return null;
    }
    long position = Keys.number(scan.key());
    byte[] value = scan.value();
    try {
      if (!latest) {
        return Removable.of(ChunkIndex.decode(position, value));
      }
      byte[] chunk = rows.get(Keys.latest(journal, Keys.topicOf(value)));
      if (chunk == null) {
        return null;
      }
      view.read(ByteBuffer.wrap(chunk), journal, position);
      return new Removable(position, view.stamp(), 1, chunk.length);
    } catch (ChunkFormatException e) {
      LOG.warn("{}", e.getMessage());
      return null;
    }
  }

  @Override
  public boolean hasNext() {
    return next != null;
  }

  @Override
  public Removable next() {
    Removable result = next;
    if (result == null) {
      throw new NoSuchElementException();
    }
    next = read();
    return result;
  }

  @Override
  public void close() {
    scan.close();
  }
}
