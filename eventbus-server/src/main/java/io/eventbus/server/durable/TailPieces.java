package io.eventbus.server.durable;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBufAllocator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Latest pieces of the journals of one loop, built once for all of its consumers of a filter.
 * Confined to the loop.
 */
final class TailPieces {
  private static final Logger LOG = LoggerFactory.getLogger(TailPieces.class);

  private static final int MAX_BUILT = 256;
  private static final long MAX_BYTES = 2 << 20;

  /**
   * Filter of a chunk. Only filters are chosen by clients, so chunks need no order of their own.
   */
  private record Key(TailChunk chunk, TopicFilter filter) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int order = filter.compareTo(other.filter);
      return order != 0 ? order : Long.compare(chunk.covers(), other.chunk.covers());
    }
  }

  /** Pieces of a chunk, and the time of the shard from which on an event of it has expired. */
  private record Built(List<FeedPiece> pieces, long expiry) {}

  private final ByteBufAllocator allocator;
  private final BusMemory memory;
  // The oldest first.
  private final Map<Key, Built> built = new LinkedHashMap<>();
  private long bytes;
  private int consumers;

  TailPieces(ByteBufAllocator allocator, BusMemory memory) {
    this.allocator = allocator;
    this.memory = memory;
  }

  void addConsumer() {
    consumers++;
  }

  void removeConsumer() {
    if (--consumers == 0) {
      shrink(0, 0);
    }
  }

  /**
   * Returns the pieces of the chunk that covers a position; the caller owns no reference. Null if
   * they have to be read from the journal, which tells what has expired.
   *
   * @param now time of the shard, in milliseconds
   */
  @Nullable List<FeedPiece> find(
      ConsumedJournal journal, long position, TopicFilter filter, long now) {
    TailChunk chunk = journal.find(position);
    if (chunk == null) {
      return null;
    }
    Key key = new Key(chunk, filter);
    Built known = built.get(key);
    if (known == null) {
      try {
        long expiry = FeedPieces.expiry(chunk, journal.number());
        if (expiry <= now) {
          return null;
        }
        known =
            new Built(FeedPieces.of(chunk, journal.number(), filter, allocator, memory), expiry);
      } catch (ChunkFormatException e) {
        LOG.error("the journal is read instead: {}", e.getMessage());
        return null;
      }
      built.put(key, known);
      bytes += size(known.pieces);
      shrink(MAX_BUILT, MAX_BYTES);
    }
    return known.expiry <= now ? null : known.pieces;
  }

  private static long size(List<FeedPiece> pieces) {
    return pieces.stream().mapToLong(FeedPiece::bytes).sum();
  }

  /** Removes the oldest but the last one, unless all have to go. */
  private void shrink(int maxBuilt, long maxBytes) {
    Iterator<Built> oldest = built.values().iterator();
    while ((built.size() > maxBuilt || bytes > maxBytes)
        && built.size() > (maxBuilt == 0 ? 0 : 1)) {
      List<FeedPiece> pieces = oldest.next().pieces;
      oldest.remove();
      bytes -= size(pieces);
      pieces.forEach(FeedPiece::release);
    }
  }
}
