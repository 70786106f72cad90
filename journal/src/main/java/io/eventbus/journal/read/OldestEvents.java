package io.eventbus.journal.read;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.ChunkIndexReader;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.RetentionPolicy.Removable;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Events of a journal in the units in which they are removed, the oldest first. Those of which
 * nothing can be read are left out: they go with the next ones. For one thread.
 */
public final class OldestEvents implements Iterator<Removable>, AutoCloseable {
  private static final byte[] NOTHING = {};

  private final RowReader rows;
  private final int journal;
  private final boolean latest;
  private final RowScan scan;
  private final Consumer<String> problems;
  private final ChunkIndexReader indexes = new ChunkIndexReader();
  private final ChunkView view = new ChunkView();
  private @Nullable Removable next;

  private OldestEvents(
      RowReader rows, int journal, boolean latest, RowScan scan, Consumer<String> problems) {
    this.rows = rows;
    this.journal = journal;
    this.latest = latest;
    this.scan = scan;
    this.problems = problems;
    next = read();
  }

  /**
   * Begins with the first event of a journal.
   *
   * @param latest whether the journal keeps only the last event of each topic
   * @param problems told of each row that is damaged
   * @throws DamagedRowException if it cannot be read what there is, also from the later calls
   */
  public static OldestEvents of(
      RowReader rows,
      int journal,
      JournalCounters counters,
      boolean latest,
      Consumer<String> problems) {
    byte kind = latest ? Keys.LATEST_POSITION : Keys.CHUNK_INDEX;
    byte[] from =
        latest
            ? Keys.latestPosition(journal, counters.firstPosition())
            : Keys.chunkIndex(journal, counters.firstPosition());
    RowScan scan = rows.scan(from, Keys.end(kind, journal));
    return new OldestEvents(rows, journal, latest, scan, problems);
  }

  private @Nullable Removable read() {
    while (scan.next()) {
      long position = Keys.number(scan.key());
      try {
        return read(position, scan.value());
      } catch (ChunkFormatException | DamagedRowException e) {
        problems.accept(e.getMessage());
      }
    }
    return null;
  }

  private Removable read(long position, byte[] value) throws ChunkFormatException {
    if (!latest) {
      return Removable.of(indexes.read(rows, journal, position, value));
    }
    byte[] chunk = rows.get(Keys.latest(journal, Keys.topicOf(value)));
    view.read(ByteBuffer.wrap(chunk == null ? NOTHING : chunk), journal, position);
    return new Removable(position, view.stamp(), 1, view.bytes());
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
