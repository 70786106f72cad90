package io.eventbus.journal.state;

import io.eventbus.journal.rows.RowScan;
import io.eventbus.protocol.MalformedFrameException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Events of shared cursors that were given back, as the records of one entry see them: a scan does
 * not see what the entry has changed, so that is kept beside it.
 */
final class WaitingRuns {
  private final ShardContext context;
  private final NavigableMap<byte[], WaitingRun> written = new TreeMap<>(Arrays::compareUnsigned);
  private final Set<byte[]> removed = new TreeSet<>(Arrays::compareUnsigned);
  // No row of a cursor that is not removed was stored before a key, by the first key of the cursor:
  // many records of an entry do not look at what is gone again and again.
  private final Map<byte[], byte[]> begins = new TreeMap<>(Arrays::compareUnsigned);

  WaitingRuns(ShardContext context) {
    this.context = context;
  }

  private static byte[] key(int journal, long cursor, WaitingRun waiting) {
    return Keys.waiting(journal, cursor, waiting.due(), waiting.run().from());
  }

  void put(int journal, long cursor, WaitingRun waiting) {
    byte[] key = key(journal, cursor, waiting);
    context.rows.put(key, waiting.encode());
    written.put(key, waiting);
  }

  void remove(int journal, long cursor, WaitingRun waiting) {
    byte[] key = key(journal, cursor, waiting);
    context.rows.delete(key);
    if (written.remove(key) == null) {
      removed.add(key);
    }
  }

  /**
   * Returns what is due, by due time and position.
   *
   * @param from time before which nothing is due
   * @param stamp the last due time
   * @param max maximum number of runs
   */
  List<WaitingRun> due(int journal, long cursor, long from, long stamp, int max) {
    byte[] end = Keys.waitingFrom(journal, cursor, stamp + 1);
    List<WaitingRun> found = list(journal, cursor, from, end, max);
    begins.put(
        Keys.waitingFrom(journal, cursor, 0),
        found.isEmpty() ? end : key(journal, cursor, found.get(0)));
    return found;
  }

  /** Returns the first due time that is not before a time; 0 if there is none. */
  long nextDue(int journal, long cursor, long from) {
    byte[] end = Keys.end(Keys.WAITING, journal, cursor);
    List<WaitingRun> found = list(journal, cursor, from, end, 1);
    return found.isEmpty() ? 0 : found.get(0).due();
  }

  private List<WaitingRun> list(int journal, long cursor, long from, byte[] end, int max) {
    List<WaitingRun> found = new ArrayList<>();
    byte[] first = Keys.waitingFrom(journal, cursor, from);
    NavigableMap<byte[], WaitingRun> own = written.subMap(first, true, end, false);
    byte[] left = begins.getOrDefault(Keys.waitingFrom(journal, cursor, 0), first);
    byte[] begin = Arrays.compareUnsigned(left, first) > 0 ? left : first;
    byte[] last = null;
    if (Arrays.compareUnsigned(begin, end) < 0) {
      try (RowScan scan = context.rows.scan(begin, end)) {
        while (found.size() < max && scan.next()) {
          byte[] key = scan.key();
          // What was removed and came again is in the other list.
          if (!removed.contains(key)) {
            addBefore(key, last, own, max, found);
            last = key;
            if (found.size() < max) {
              found.add(read(key, scan.value()));
            }
          }
        }
      }
    }
    addBefore(end, last, own, max, found);
    return found;
  }

  /** Adds those of the entry that are behind a key, if any, and before another. */
  private static void addBefore(
      byte[] end,
      byte @Nullable [] last,
      NavigableMap<byte[], WaitingRun> own,
      int max,
      List<WaitingRun> found) {
    NavigableMap<byte[], WaitingRun> before = own.headMap(end, false);
    for (WaitingRun run : (last == null ? before : before.tailMap(last, false)).values()) {
      if (found.size() == max) {
        return;
      }
      found.add(run);
    }
  }

  private static WaitingRun read(byte[] key, byte[] value) {
    try {
      return WaitingRun.decode(key, value);
    } catch (MalformedFrameException e) {
      throw RowCache.damaged(key, e);
    }
  }
}
