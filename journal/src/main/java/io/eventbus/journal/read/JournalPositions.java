package io.eventbus.journal.read;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.TopicRow;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Finding positions of a journal. */
public final class JournalPositions {
  private JournalPositions() {}

  /** Returns the counters of a journal, which know its first and last position; null if none. */
  public static @Nullable JournalCounters counters(RowReader rows, int journal) {
    byte[] value = rows.get(Keys.journalCounters(journal));
    return value == null ? null : JournalCounters.decode(value);
  }

  /** Returns the position of the last event of a topic; 0 if the topic is empty. */
  public static long lastOfTopic(RowReader rows, int journal, String topic) {
    byte[] value = rows.get(Keys.topic(journal, topic.getBytes(StandardCharsets.UTF_8)));
    return value == null ? 0 : TopicRow.decode(value).lastPosition();
  }

  /**
   * Returns from which position on a journal that keeps all events is read to get those of a time
   * and later: the first of the chunk in which they begin.
   *
   * @param stamp time of the shard, in milliseconds
   * @return the position after the last one if all are older; 0 if there is no such journal
   */
  public static long positionAt(RowReader rows, int journal, long stamp) {
    JournalCounters counters = counters(rows, journal);
    if (counters == null) {
      return 0;
    }
    long low = counters.firstPosition();
    long high = counters.lastPosition() + 1;
    while (low < high) {
      long middle = low + (high - low) / 2;
      ChunkIndex chunk = indexAt(rows, journal, middle);
      if (chunk == null || chunk.lastPosition() < middle) {
        // A damaged row says nothing: the search goes on as if its events were older.
        low = middle + 1;
      } else if (chunk.lastStamp() < stamp) {
        low = chunk.lastPosition() + 1;
      } else {
        high = Math.max(low, chunk.firstPosition());
      }
    }
    return low;
  }

  /** Returns when the chunk with a position was stored; 0 if there is none, or it is damaged. */
  static long stampAt(RowReader rows, int journal, long position) {
    ChunkIndex chunk = indexAt(rows, journal, position);
    return chunk == null || chunk.lastPosition() < position ? 0 : chunk.firstStamp();
  }

  private static @Nullable ChunkIndex indexAt(RowReader rows, int journal, long position) {
    try (RowScan scan = before(rows, journal, position)) {
      return scan.next() ? ChunkIndex.decode(Keys.number(scan.key()), scan.value()) : null;
    } catch (ChunkFormatException e) {
      return null;
    }
  }

  /**
   * Returns the first position of the chunk that may cover a position: the last that begins there
   * or before; the position itself if there is none.
   */
  static long chunkAt(RowReader rows, int journal, long position) {
    try (RowScan scan = before(rows, journal, position)) {
      return scan.next() ? Keys.number(scan.key()) : position;
    }
  }

  /**
   * Returns the key of the row that has an event, if there is such a row.
   *
   * @param kind the kind of the key: of chunks, or of the latest events of topics
   * @return null if the event is not the latest of its topic
   */
  public static byte @Nullable [] eventRow(RowReader rows, byte kind, int journal, long position) {
    if (kind == Keys.CHUNK) {
      return Keys.chunk(journal, chunkAt(rows, journal, position));
    }
    byte[] topic = rows.get(Keys.latestPosition(journal, position));
    return topic == null ? null : Keys.latest(journal, Keys.topicOf(topic));
  }

  private static RowScan before(RowReader rows, int journal, long position) {
    return rows.scanReverse(
        Keys.first(Keys.CHUNK_INDEX, journal), Keys.chunkIndex(journal, position + 1));
  }
}
