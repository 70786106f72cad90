package io.eventbus.server.durable;

import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.StoredEventReader;
import io.eventbus.protocol.TopicFilter;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Readers that were used last: each knows which topics its filter matches, and thousands of
 * consumers must not hold one each. Any thread that may wait for the disk.
 */
final class KnownReaders {
  private static final int MAX_KEPT = 32;

  private record Key(int journal, TopicFilter filter) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int order = filter.compareTo(other.filter);
      return order != 0 ? order : Integer.compare(journal, other.journal);
    }
  }

  private final Journals journals;
  // Without those in use; the one that was used longest ago first.
  private final Map<Key, StoredEventReader> kept = new LinkedHashMap<>();

  KnownReaders(Journals journals) {
    this.journals = journals;
  }

  /**
   * Reads on from a position.
   *
   * @return what was found; null if there is no such journal
   * @throws JournalsUnavailableException if it cannot be read now
   */
  @Nullable ReadBatch read(int journal, TopicFilter filter, long from, long maxBytes) {
    Key key = new Key(journal, filter);
    StoredEventReader reader = take(key);
    if (reader == null) {
      reader = journals.reader(journal, filter);
    }
    ReadBatch batch = reader.read(from, maxBytes);
    keep(key, reader);
    return batch;
  }

  private synchronized @Nullable StoredEventReader take(Key key) {
    return kept.remove(key);
  }

  private synchronized void keep(Key key, StoredEventReader reader) {
    kept.put(key, reader);
    if (kept.size() > MAX_KEPT) {
      Iterator<StoredEventReader> oldest = kept.values().iterator();
      oldest.next();
      oldest.remove();
    }
  }
}
