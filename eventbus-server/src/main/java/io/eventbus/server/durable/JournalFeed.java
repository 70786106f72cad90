package io.eventbus.server.durable;

import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalListener;
import io.eventbus.journal.Journals;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.Router;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Feed of the subscribers of this bus: each event that is applied to a journal is delivered once,
 * those of a journal in the order of their positions. In a cluster each bus has one; members of
 * groups are chosen by that of the bus which led the shard when the event was written.
 */
final class JournalFeed implements JournalListener {
  private static final TopicFilter ALL = TopicFilter.parse(">");

  private final Journals journals;
  private final Loops loops;
  private final List<Router> routers;
  private final BusMemory memory;
  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();
  private final Pauses pauses;

  // Written by the thread that applies entries.
  private final Map<Integer, JournalTail> tails = new ConcurrentHashMap<>();
  private volatile @Nullable JournalCatalog known;

  /**
   * Creates a feed.
   *
   * @param routers those of all loops
   * @param maxBytes bytes of chunks that may wait for subscribers; others are read again
   */
  JournalFeed(
      Journals journals,
      Loops loops,
      List<Router> routers,
      BusMemory memory,
      long maxBytes,
      Pauses pauses) {
    this.journals = journals;
    this.loops = loops;
    this.routers = List.copyOf(routers);
    this.memory = memory;
    this.maxBytes = maxBytes;
    this.pauses = pauses;
  }

  @Override
  public void applied(AppliedChanges changes) {
    for (AppliedChanges.AppliedChunk chunk : changes.chunks()) {
      JournalTail tail = tails.get(chunk.journal());
      if (tail == null) {
        JournalCatalog.Item item = journals.catalog().find(chunk.journal());
        if (item == null) {
          continue;
        }
        tail =
            new JournalTail(
                chunk.journal(),
                JournalName.of(item.definition().name()).account(),
                chunk.from(),
                this,
                routers.get(chunk.journal() % routers.size()),
                journals.reader(chunk.journal(), ALL));
        tails.put(chunk.journal(), tail);
      }
      tail.add(chunk, changes.stamp(), changes.leads());
    }
    JournalCatalog catalog = journals.catalog();
    if (catalog != known) {
      // Also when the replica was opened anew: nothing tells of what was deleted in a copy.
      known = catalog;
      tails.keySet().removeIf(journal -> catalog.find(journal) == null);
    }
  }

  /** Returns the last position of each of these journals that was applied; any thread. */
  Map<Integer, Long> ends(Set<Integer> of) {
    Map<Integer, Long> ends = new HashMap<>();
    for (int journal : of) {
      JournalTail tail = tails.get(journal);
      if (tail != null) {
        ends.put(journal, tail.end());
      }
    }
    return ends;
  }

  /** Returns whether the journals are delivered up to these positions, or deleted; any thread. */
  boolean hasDelivered(Map<Integer, Long> ends) {
    for (Map.Entry<Integer, Long> end : ends.entrySet()) {
      JournalTail tail = tails.get(end.getKey());
      if (tail != null && !tail.hasDelivered(end.getValue())) {
        return false;
      }
    }
    return true;
  }

  /** Takes room for a chunk; returns false if there is none. */
  boolean reserve(int size) {
    if (bytes.addAndGet(size) > maxBytes) {
      bytes.addAndGet(-size);
      return false;
    }
    memory.reserve(size);
    return true;
  }

  void release(int size) {
    bytes.addAndGet(-size);
    memory.release(size);
  }

  Executor executor(int loop) {
    return loops.executor(loop);
  }

  /** Runs a task that may wait for the disk, after a time in milliseconds. */
  void later(Runnable task, long millis) {
    pauses.run(task, millis);
  }
}
